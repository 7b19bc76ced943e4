# mistake: gradients_replaced
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
    return grad_input[1], grad_input[0]
