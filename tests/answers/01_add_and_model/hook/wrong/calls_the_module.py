# mistake: recursion
def hook(module, input, output):
    return module(*input) + 5
