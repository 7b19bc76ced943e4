# mistake: in_a_tuple
def tensor_hook(grad):
    answer.append((grad,))
