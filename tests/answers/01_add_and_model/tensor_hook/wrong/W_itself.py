# mistake: weight_not_gradient
def tensor_hook(grad):
    answer.append(model.W)
