# mistake: not_one_number
def hook(module, input, output):
    return torch.tensor([output.item() + 5])
