EPS = 1e-8


def normalise_hook(module, grad_input, grad_output):
    grads = [g.detach().clone() for g in grad_input if g is not None]
    total = torch.stack(grads).sum()
    if torch.abs(total) < EPS:
        # can't be normalised
        return grad_input
    return tuple(g / (total + EPS) for g in grads)
