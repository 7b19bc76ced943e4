# mistake: second_sum
def normalise_hook(module, grad_input, grad_output):
    for g in grad_input:
        g /= sum(grad_input)
