# mistake: inputs_replaced
def pre_hook(module, input):
    answer.extend(input)
    return input[0] * 10, input[1]
