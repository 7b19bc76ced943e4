# mistake: parameter_touched
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    module.W.grad /= total
    return tuple(g / total for g in grad_input)
