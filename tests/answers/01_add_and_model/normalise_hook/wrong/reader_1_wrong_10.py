# mistake: by_output
def normalise_hook(module, grad_input, grad_output):
    return grad_input[0] / grad_output[0], grad_input[1] / grad_output[0]
