# mistake: nothing_stored
def pre_hook(module, input):
    print(input[0], input[1])
