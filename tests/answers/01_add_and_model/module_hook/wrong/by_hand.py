# mistake: global_names
def module_hook(module, grad_input, grad_output):
    answer.append(5 * x2)
    answer.append(5 * x1)
    answer.append(grad_output[0])
