# mistake: wrong_return
def tensor_hook(grad):
    answer.append(grad)
    return 5
