# mistake: one_value_returned
def pre_hook(module, input):
    answer.append(input[0])
    answer.append(input[1])
    return answer
