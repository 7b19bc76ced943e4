# mistake: todo
def tensor_hook(grad):
    raise Todo  # replace this line with your code
