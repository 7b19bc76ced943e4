# mistake: inputs_again
def output_hook(module, input, output):
    answer.append(x1)
    answer.append(x2)
    answer.append(output)
