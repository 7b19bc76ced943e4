# mistake: recursion
def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
    answer.append(module(input[0], input[1]))
