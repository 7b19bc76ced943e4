def hook(module, input, output):
    for _ in range(5):
        output = output + 1
    print("now", output)
    return output
