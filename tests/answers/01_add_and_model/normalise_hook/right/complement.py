def normalise_hook(module, grad_input, grad_output):
    a, b = grad_input
    share = a / (a + b)
    return share, 1 - share
