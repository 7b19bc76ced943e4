# mistake: unchanged
def normalise_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    x1.grad = grad_input[0] / total
    x2.grad = grad_input[1] / total
