# mistake: global_names
def tensor_hook(grad):
    answer.append(torch.tensor([6.0]))
