# mistake: wrong_arity
def tensor_hook(tensor, grad):
    answer.append(grad)
