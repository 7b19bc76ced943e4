# mistake: five_alone
def hook(module, input, output):
    return 5
