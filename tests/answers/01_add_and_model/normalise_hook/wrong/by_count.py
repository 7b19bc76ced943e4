# mistake: by_something_else
def normalise_hook(module, grad_input, grad_output):
    return tuple(g / len(grad_input) for g in grad_input)
