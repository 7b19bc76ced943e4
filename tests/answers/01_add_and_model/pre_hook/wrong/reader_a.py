# mistake: global_names
def pre_hook(module, input):
    answer.append(x1)
    answer.append(x2)
