# mistake: tuple_used
def hook(module, input, output):
    return input + 5
