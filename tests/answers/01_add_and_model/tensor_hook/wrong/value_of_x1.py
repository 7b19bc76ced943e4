# mistake: values_not_gradients
def tensor_hook(grad):
    answer.append(x1.detach())
