# mistake: global_names
def hook(module, input, output):
    return torch.tensor([16.0])
