# mistake: output_too_early
def pre_hook(module, input):
    output = input[0] + input[1]
    answer.append(input[0])
    answer.append(input[1])
    answer.append(output)
