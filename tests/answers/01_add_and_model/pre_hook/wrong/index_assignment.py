# mistake: index_out_of_range
def pre_hook(module, input):
    answer[0] = input[0]
    answer[1] = input[1]
