# mistake: grad_too_early
def module_hook(module, grad_input, grad_output):
    x1, x2 = grad_input
    answer.append(x1.grad)
    answer.append(x2.grad)
    answer.append(grad_output[0].grad)
