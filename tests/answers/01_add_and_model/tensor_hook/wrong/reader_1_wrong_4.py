# mistake: nothing_stored
def tensor_hook(grad):
    answer = grad
