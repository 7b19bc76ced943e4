# mistake: unchanged
def hook(module, input, output):
    return print(output + 5)
