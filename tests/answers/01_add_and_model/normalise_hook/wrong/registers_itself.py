# mistake: hook_left
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    module.register_full_backward_hook(normalise_hook)
    return tuple(g / total for g in grad_input)
