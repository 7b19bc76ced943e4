# mistake: ratio_lost
def normalise_hook(module, grad_input, grad_output):
    too_much = sum(grad_input) - 1
    return tuple(g - too_much / 2 for g in grad_input)
