# mistake: each_by_itself
def normalise_hook(module, grad_input, grad_output):
    return tuple(g / g.sum() for g in grad_input)
