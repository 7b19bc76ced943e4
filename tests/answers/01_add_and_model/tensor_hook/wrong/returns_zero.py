# mistake: gradients_replaced
def tensor_hook(grad):
    answer.append(grad)
    return torch.zeros_like(grad)
