# mistake: old_grad
def module_hook(module, grad_input, grad_output):
    answer.append(x1.grad)
    answer.append(x2.grad)
    answer.append(output.grad)
