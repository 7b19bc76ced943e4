# mistake: index_out_of_range
def pre_hook(module, input):
    answer.append(input[1])
    answer.append(input[2])
