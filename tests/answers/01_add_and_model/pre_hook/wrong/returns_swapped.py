# mistake: inputs_replaced
def pre_hook(module, input):
    x1, x2 = input
    answer.extend([x1, x2])
    return x2, x1
