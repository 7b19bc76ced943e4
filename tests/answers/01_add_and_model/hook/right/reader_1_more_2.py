# accepted: recomputed
def hook(module, input, output):
    return input[0] + input[1] + 5
