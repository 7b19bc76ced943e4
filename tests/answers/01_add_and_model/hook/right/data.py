# accepted: in_place
def hook(module, input, output):
    output.data += 5
    return output
