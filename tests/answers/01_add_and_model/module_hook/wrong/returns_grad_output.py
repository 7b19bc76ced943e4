# mistake: wrong_grad_count
def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input + grad_output)
    return grad_output
