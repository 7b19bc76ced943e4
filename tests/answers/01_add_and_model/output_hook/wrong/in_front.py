# mistake: output_first
def output_hook(module, input, output):
    answer.insert(0, output)
