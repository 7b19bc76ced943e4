# mistake: inputs_damaged
def hook(module, input, output):
    x1, x2 = input
    x1 += 5
    return x1 + x2
