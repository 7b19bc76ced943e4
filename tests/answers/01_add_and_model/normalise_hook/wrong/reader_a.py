# mistake: wrong_grad_count
def normalise_hook(module, grad_input, grad_output):
    return grad_input[0] / sum(grad_input) + grad_input[1] / sum(grad_input)
