# accepted: in_place
def normalise_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    for g in grad_input:
        g /= total
