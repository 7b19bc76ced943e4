# accepted: recomputed
def hook(module, input, output):
    return module.forward(*input) + 5
