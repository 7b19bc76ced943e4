# mistake: local_name
def pre_hook(module, input):
    answer += [input[0], input[1]]
