# mistake: wrong_arity
def pre_hook(module, x1, x2):
    answer.append(x1)
    answer.append(x2)
