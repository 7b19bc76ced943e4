# mistake: no_attribute
def module_hook(module, grad_input, grad_output):
    answer.append(module.x1.grad)
    answer.append(module.x2.grad)
    answer.append(grad_output[0])
