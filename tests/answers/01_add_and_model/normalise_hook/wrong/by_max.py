# mistake: by_largest
def normalise_hook(module, grad_input, grad_output):
    largest = max(grad_input)
    return tuple(g / largest for g in grad_input)
