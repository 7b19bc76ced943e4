# mistake: unchanged
def hook(module, input, output):
    answer.append(output + 5)
