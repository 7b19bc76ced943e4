# mistake: unchanged
def hook(module, input, output):
    print(output + 5)
