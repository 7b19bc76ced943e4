# A tensor has a length too, and PyTorch takes its rows.
def normalise_hook(module, grad_input, grad_output):
    return torch.stack(grad_input) / sum(grad_input)
