# mistake: taken_apart
def tensor_hook(grad):
    answer.append(grad[0])
