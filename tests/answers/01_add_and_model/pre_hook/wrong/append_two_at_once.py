# mistake: wrong_call
def pre_hook(module, input):
    answer.append(input[0], input[1])
