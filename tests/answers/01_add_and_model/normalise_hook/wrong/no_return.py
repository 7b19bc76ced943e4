# mistake: unchanged
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    grad_input = tuple(g / total for g in grad_input)
