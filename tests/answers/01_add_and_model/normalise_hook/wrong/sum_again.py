# mistake: second_sum
def normalise_hook(module, grad_input, grad_output):
    a, b = grad_input
    a = a / (a + b)
    b = b / (a + b)
    return a, b
