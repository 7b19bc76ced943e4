# mistake: whole_tuple
def pre_hook(module, input):
    answer.append(input)
