# mistake: wrong_size
def tensor_hook(grad):
    answer.append(grad)
    return grad.sum()
