# accepted: in_place
def hook(module, input, output):
    output.add_(5)
    return output
