# mistake: none_used
def normalise_hook(module, grad_input, grad_output):
    total = x1.grad + x2.grad
    return x1.grad / total, x2.grad / total
