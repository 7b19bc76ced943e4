# mistake: wrong_grad_count
def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.extend(grad_output)
    return answer
