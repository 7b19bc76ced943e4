# mistake: taken_apart
def output_hook(module, input, output):
    answer.extend(output)
