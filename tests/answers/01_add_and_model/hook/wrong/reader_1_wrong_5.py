# mistake: from_one_input
def hook(module, input, output):
    return input[0] + 5
