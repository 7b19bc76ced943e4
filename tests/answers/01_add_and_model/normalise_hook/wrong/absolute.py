# mistake: absolute_sum
def normalise_hook(module, grad_input, grad_output):
    total = sum(g.abs() for g in grad_input)
    return tuple(g / total for g in grad_input)
