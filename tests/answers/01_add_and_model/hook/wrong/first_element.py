# mistake: first_only
def hook(module, input, output):
    output[0] += 5
    return output
