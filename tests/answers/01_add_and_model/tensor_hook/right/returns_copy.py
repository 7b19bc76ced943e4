def tensor_hook(g):
    answer.extend([g])
    return g.clone()
