# mistake: wrong_arity
def hook(module, output):
    return output + 5
