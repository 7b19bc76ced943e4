def normalise_hook(module, grad_input, grad_output):
    g = torch.stack(grad_input)
    return g / g.sum()
