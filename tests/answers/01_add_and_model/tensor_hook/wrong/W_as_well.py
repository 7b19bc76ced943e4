# mistake: extra_items
def tensor_hook(grad):
    answer.append(grad)
    answer.append(model.W)
