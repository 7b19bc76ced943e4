# mistake: wrong_arity
def pre_hook(module, input, output):
    answer.append(input[0])
    answer.append(input[1])
