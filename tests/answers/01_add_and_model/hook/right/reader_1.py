def hook(module, input, output):
    return output + 5
