# mistake: wrong_grad_count
def normalise_hook(module, grad_input, grad_output):
    return grad_input[0] / (grad_input[0]+grad_input[1])
