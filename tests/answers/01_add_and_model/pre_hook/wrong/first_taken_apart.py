# mistake: taken_apart
def pre_hook(module, input):
    answer.extend(input[0])
    answer.append(input[1])
