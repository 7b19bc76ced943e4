def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
    return input
