# mistake: index_out_of_range
def module_hook(module, grad_input, grad_output):
    answer.append(grad_output[0])
    answer.append(grad_output[1])
    answer.append(grad_input[0])
