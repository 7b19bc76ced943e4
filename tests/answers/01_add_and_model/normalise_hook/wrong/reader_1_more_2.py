# mistake: item_assignment
def normalise_hook(module, grad_input, grad_output):
    grad_input[0] = grad_input[0] / sum(grad_input)
    grad_input[1] = grad_input[1] / sum(grad_input)
