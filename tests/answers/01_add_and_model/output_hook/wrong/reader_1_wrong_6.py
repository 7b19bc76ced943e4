# mistake: output_missing
def output_hook(module, input, output):
    return output
