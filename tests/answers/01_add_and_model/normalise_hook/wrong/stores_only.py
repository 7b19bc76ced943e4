# mistake: unchanged
def normalise_hook(module, grad_input, grad_output):
    answer.extend(g / sum(grad_input) for g in grad_input)
