# mistake: unchanged
def hook(module, input, output):
    output = output + 5
