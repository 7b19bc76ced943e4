# mistake: inputs_again
def output_hook(module, input, output):
    answer.append(input)
    answer.append(output)
