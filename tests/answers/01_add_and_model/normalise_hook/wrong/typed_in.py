# mistake: global_names
def normalise_hook(module, grad_input, grad_output):
    return torch.tensor([0.75]), torch.tensor([0.25])
