def hook(module, input, output):
    five = 5 * torch.ones_like(output)
    output = output + five
    return output
