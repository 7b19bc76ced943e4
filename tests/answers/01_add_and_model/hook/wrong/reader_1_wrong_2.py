# mistake: in_a_tuple
def hook(module, input, output):
    return (output + 5,)
