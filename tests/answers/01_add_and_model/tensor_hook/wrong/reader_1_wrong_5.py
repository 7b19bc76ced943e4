# mistake: wrong_arity
def tensor_hook(module, grad_input, grad_output):
    answer.append(module.W.grad)
