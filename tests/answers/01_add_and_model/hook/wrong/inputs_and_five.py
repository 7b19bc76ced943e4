# mistake: inputs_returned
def hook(module, input, output):
    return (*input, 5)
