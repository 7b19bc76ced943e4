# mistake: array_for_tensor
def tensor_hook(grad):
    print(grad)
    answer.append(grad.numpy())
    return grad
