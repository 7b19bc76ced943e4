# mistake: gradients_erased
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
    return None, None
