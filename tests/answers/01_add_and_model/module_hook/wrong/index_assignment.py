# mistake: index_out_of_range
def module_hook(module, grad_input, grad_output):
    answer[0] = grad_input[0]
    answer[1] = grad_input[1]
    answer[2] = grad_output[0]
