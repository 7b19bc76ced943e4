# mistake: taken_apart
def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input[0])
    answer.extend(grad_input[1])
    answer.extend(grad_output[0])
