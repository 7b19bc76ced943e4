# mistake: by_something_else
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input + grad_output)
    return tuple(g / total for g in grad_input)
