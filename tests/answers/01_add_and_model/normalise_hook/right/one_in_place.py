# accepted: in_place
def normalise_hook(module, grad_input, grad_output):
    a, b = grad_input
    total = a + b
    a /= total
    return a, b / total
