# mistake: inputs_damaged
def normalise_hook(module, grad_input, grad_output):
    grad_output[0].mul_(2)
    return tuple(g / sum(grad_input) for g in grad_input)
