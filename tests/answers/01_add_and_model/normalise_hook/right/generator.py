def normalise_hook(module, grad_input, grad_output):
    return tuple(g / sum(grad_input) for g in grad_input)
