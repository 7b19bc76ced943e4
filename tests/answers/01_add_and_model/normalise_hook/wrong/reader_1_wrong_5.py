# mistake: by_length
def normalise_hook(module, grad_input, grad_output):
    n = torch.norm(torch.stack(grad_input))
    return grad_input[0] / n, grad_input[1] / n
