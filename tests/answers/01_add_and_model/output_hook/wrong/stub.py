# mistake: todo
def output_hook(module, input, output):
    raise Todo  # replace this line with your code
