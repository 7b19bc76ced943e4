# mistake: plus_ten
def hook(module, input, output):
    output += 5
    return output + 5
