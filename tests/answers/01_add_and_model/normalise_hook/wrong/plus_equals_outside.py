# mistake: local_name
total = torch.zeros(1)

def normalise_hook(module, grad_input, grad_output):
    for g in grad_input:
        total += g
    return tuple(g / total for g in grad_input)
