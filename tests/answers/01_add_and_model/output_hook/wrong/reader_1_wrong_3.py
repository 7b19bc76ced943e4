# mistake: inputs_again
def output_hook(module, input, output):
    answer.append(input[0])
    answer.append(input[1])
    answer.append(output)
