# mistake: global_names
def tensor_hook(grad):
    answer.append(x1 * x2)
