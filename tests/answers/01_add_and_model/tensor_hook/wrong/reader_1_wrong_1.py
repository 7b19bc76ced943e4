# mistake: global_names
def tensor_hook(grad):
    answer.append(model.W.grad)
