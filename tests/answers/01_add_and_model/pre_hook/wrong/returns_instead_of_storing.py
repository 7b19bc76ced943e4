# mistake: nothing_stored
def pre_hook(module, input):
    return input[0], input[1]
