def hook(module, input, output):
    return torch.add(output, 5.0)
