# mistake: global_names
def module_hook(module, grad_input, grad_output):
    g = grad_output[0]
    answer.extend([x2 * module.W * g, x1 * module.W * g, g])
