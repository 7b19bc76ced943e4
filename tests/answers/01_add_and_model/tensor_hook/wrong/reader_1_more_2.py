# mistake: index_out_of_range
def tensor_hook(grad):
    answer[0] = grad
