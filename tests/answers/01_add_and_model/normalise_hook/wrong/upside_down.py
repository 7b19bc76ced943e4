# mistake: upside_down
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(total / g for g in grad_input)
