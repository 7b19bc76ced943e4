# mistake: not_a_tuple
def normalise_hook(module, grad_input, grad_output):
    return 5
