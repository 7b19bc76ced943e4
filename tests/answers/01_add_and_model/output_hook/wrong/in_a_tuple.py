# mistake: output_in_tuple
def output_hook(module, input, output):
    answer.append((output,))
