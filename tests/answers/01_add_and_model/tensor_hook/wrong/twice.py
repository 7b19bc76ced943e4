# mistake: stored_again
def tensor_hook(grad):
    answer.append(grad)
    answer.append(grad)
