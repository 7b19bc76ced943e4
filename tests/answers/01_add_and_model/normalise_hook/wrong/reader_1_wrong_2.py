# mistake: tuple_used
def normalise_hook(module, grad_input, grad_output):
    return grad_input / sum(grad_input)
