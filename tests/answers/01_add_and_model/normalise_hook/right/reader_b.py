# accepted: in_place
def normalise_hook(module, grad_input, grad_output):
    g1, g2 = grad_input
    total = g1 + g2
    g1 /= total
    g2 /= total
    print(g1 + g2)
    return g1, g2
