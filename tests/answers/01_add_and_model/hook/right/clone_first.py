def hook(module, input, output):
    new = output.clone()
    new += 5
    return new
