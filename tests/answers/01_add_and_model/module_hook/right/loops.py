def module_hook(module, grad_input, grad_output):
    for grads in (grad_input, grad_output):
        for grad in grads:
            answer.append(grad.detach())
