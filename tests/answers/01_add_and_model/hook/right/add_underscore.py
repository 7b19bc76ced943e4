# accepted: in_place
def hook(module, input, output):
    return output.add_(5)
