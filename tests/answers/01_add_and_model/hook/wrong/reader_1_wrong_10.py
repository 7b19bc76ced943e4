# mistake: global_names
def hook(module, input, output):
    return 10
