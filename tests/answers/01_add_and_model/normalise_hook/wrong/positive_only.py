# mistake: signs_lost
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple((g / total).abs() for g in grad_input)
