# mistake: signs_lost
def normalise_hook(module, grad_input, grad_output):
    a, b = (g.abs() for g in grad_input)
    return a / (a + b), b / (a + b)
