# mistake: whole_tuple
def pre_hook(module, input):
    answer.append([input[0], input[1]])
