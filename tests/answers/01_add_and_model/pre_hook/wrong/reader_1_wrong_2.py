# mistake: nothing_stored
def pre_hook(module, input):
    answer = [input[0], input[1]]
