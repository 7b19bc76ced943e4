def normalise_hook(module, grad_input, grad_output):
    total = sum(g.item() for g in grad_input)
    return tuple(torch.tensor([g.item() / total]) for g in grad_input)
