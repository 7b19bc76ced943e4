# mistake: recursion
def output_hook(module, input, output):
    answer.append(module(*input))
