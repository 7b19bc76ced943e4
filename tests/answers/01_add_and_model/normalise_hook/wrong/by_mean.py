# mistake: by_mean
def normalise_hook(module, grad_input, grad_output):
    mean = torch.cat(grad_input).mean()
    return tuple(g / mean for g in grad_input)
