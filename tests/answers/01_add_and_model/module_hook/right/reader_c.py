def _copy(grad):
    return None if grad is None else grad.detach().clone()


def module_hook(module, grad_input, grad_output):
    global answer
    if len(grad_input) != 2 or len(grad_output) != 1:
        raise ValueError("unexpected number of gradients")
    answer = [_copy(g) for g in (*grad_input, *grad_output)]
