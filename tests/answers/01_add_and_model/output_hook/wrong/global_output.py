# mistake: global_names
output = torch.tensor([5.0])

def output_hook(module, input, out):
    answer.append(output)
