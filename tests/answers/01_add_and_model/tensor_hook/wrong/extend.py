# mistake: taken_apart
def tensor_hook(grad):
    answer.extend(grad)
