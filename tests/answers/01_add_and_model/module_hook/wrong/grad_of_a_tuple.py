# mistake: tuple_attribute
def module_hook(module, grad_input, grad_output):
    answer.append(grad_input.grad)
    answer.append(grad_output.grad)
