# mistake: inputs_damaged
def output_hook(module, input, output):
    x1, x2 = input
    x1 += x2
    answer.append(x1)
