# mistake: none_used
def pre_hook(module, input):
    return answer.append(input[0]), answer.append(input[1])
