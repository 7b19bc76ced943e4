# mistake: by_length
def normalise_hook(module, grad_input, grad_output):
    norm = torch.cat(grad_input).norm()
    return tuple(g / norm for g in grad_input)
