# mistake: whole_tuple
def module_hook(module, grad_input, grad_output):
    answer.append(grad_input)
    answer.append(grad_output)
