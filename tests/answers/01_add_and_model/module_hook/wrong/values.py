# mistake: values_not_gradients
def module_hook(module, grad_input, grad_output):
    answer.append(x1)
    answer.append(x2)
    answer.append(x1 * x2 * module.W)
