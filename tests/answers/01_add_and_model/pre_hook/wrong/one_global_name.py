# mistake: global_names
def pre_hook(module, input):
    answer.append(input[0])
    answer.append(x2)
