def pre_hook(module, input):
    answer.clear()
    answer.append(input[0])
    answer.append(input[1])
