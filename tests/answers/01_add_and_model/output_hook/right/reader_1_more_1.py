# accepted: recomputed
def output_hook(module, input, output):
    answer.append(input[0] + input[1])
