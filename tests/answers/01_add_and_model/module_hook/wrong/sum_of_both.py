# mistake: missing_items
def module_hook(module, grad_input, grad_output):
    answer.append(grad_input[0] + grad_input[1])
