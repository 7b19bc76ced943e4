# mistake: taken_apart
def pre_hook(module, input):
    answer.append(input[0][0])
    answer.append(input[1][0])
