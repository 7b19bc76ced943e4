# mistake: scalar_for_tensor
def hook(module, input, output):
    return output.item() + 5
