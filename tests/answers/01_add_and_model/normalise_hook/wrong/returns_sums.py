# mistake: sum_returned
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return total, total
