# mistake: grad_too_early
def tensor_hook(grad):
    answer.append(grad.grad)
