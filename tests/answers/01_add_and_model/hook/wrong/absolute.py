# mistake: constant_factor
def hook(module, input, output):
    return (output + 5).abs()
