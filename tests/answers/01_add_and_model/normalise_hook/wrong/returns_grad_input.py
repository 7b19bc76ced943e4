# mistake: unchanged
def normalise_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    a = grad_input[0] / total
    b = grad_input[1] / total
    return grad_input
