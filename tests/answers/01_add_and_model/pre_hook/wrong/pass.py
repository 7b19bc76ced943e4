# mistake: nothing_stored
def pre_hook(module, input):
    pass
