# mistake: ratio_lost
def normalise_hook(module, grad_input, grad_output):
    return 1 - grad_input[1], grad_input[1]
