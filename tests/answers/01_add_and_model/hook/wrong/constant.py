# mistake: five_alone
def hook(module, input, output):
    return torch.full_like(output, 5)
