# mistake: todo
def hook(module, input, output):
    raise Todo  # replace this line with your code
