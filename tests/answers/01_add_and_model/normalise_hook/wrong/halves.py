# mistake: ratio_lost
def normalise_hook(module, grad_input, grad_output):
    return tuple(torch.full_like(g, 0.5) for g in grad_input)
