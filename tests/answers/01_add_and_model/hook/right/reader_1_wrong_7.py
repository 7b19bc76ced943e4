# accepted: in_place
def hook(module, input, output):
    output += 5
