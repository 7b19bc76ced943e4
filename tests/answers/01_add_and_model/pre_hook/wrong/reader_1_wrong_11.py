# mistake: tuple_attribute
def pre_hook(module, input):
    answer.append(input.x1)
    answer.append(input.x2)
