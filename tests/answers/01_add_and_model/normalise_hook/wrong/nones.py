# mistake: gradients_erased
def normalise_hook(module, grad_input, grad_output):
    a = grad_input[0] / sum(grad_input)
    b = grad_input[1] / sum(grad_input)
    return None, None
