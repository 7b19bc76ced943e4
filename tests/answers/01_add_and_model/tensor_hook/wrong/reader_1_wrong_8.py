# mistake: scalar_for_tensor
def tensor_hook(grad):
    answer.append(grad.item())
