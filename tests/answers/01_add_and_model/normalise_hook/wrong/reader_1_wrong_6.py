# mistake: wrong_return
def normalise_hook(module, grad_input, grad_output):
    return 0.6, 0.4
