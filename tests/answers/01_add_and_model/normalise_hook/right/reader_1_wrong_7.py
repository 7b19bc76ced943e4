def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return [g / total for g in grad_input]
