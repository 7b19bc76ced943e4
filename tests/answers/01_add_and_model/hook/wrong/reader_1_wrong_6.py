# mistake: recursion
def hook(module, input, output):
    return module(input[0], input[1]) + 5
