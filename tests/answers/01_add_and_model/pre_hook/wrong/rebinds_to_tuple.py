# mistake: not_a_list
def pre_hook(module, input):
    global answer
    answer = input
