# mistake: global_names
def normalise_hook(module, grad_input, grad_output):
    return x2.detach() / (x1 + x2).detach(), x1.detach() / (x1 + x2).detach()
