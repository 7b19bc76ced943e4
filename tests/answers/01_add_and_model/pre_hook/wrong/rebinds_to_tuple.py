# mistake: no_attribute
def pre_hook(module, input):
    global answer
    answer = input
