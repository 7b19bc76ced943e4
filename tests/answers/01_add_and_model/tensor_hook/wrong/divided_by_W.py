# mistake: gradient_changed
def tensor_hook(grad):
    answer.append(grad / 20)
