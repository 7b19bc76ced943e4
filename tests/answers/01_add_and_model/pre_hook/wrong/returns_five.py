# mistake: one_value_returned
def pre_hook(module, input):
    answer.extend(input)
    return 5
