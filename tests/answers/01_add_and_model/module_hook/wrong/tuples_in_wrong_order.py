# mistake: tuples_in_wrong_order
def module_hook(module, grad_input, grad_output):
    answer.append(grad_output)
    answer.append(grad_input)
