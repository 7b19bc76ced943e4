# mistake: wrong_arity
def tensor_hook():
    answer.append(model.W.grad)
