# mistake: wrong_arity
def normalise_hook(grad):
    return grad / grad.sum()
