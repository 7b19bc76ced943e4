# mistake: global_names
def hook(module, input, output):
    return x1 + x2 + 5
