# mistake: inputs_returned
def hook(module, input, output):
    return input[0] + 5, input[1] + 5
