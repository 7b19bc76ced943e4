# mistake: gradients_replaced
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
    return tuple(2 * g for g in grad_input)
