# mistake: not_a_tuple
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
    return 5
