# mistake: wrong_arity
def output_hook(module, input):
    answer.append(input[0] + input[1])
