# mistake: missing_name
def hook(module, input, output):
    return outptu + 5
