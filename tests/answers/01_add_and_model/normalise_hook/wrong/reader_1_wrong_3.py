# mistake: unchanged
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    grad_input = (grad_input[0] / total, grad_input[1] / total)
