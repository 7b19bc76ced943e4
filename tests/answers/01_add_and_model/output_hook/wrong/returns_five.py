# mistake: output_changed
def output_hook(module, input, output):
    answer.append(output)
    return 5
