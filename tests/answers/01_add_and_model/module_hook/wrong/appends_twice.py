# mistake: stored_again
def module_hook(module, grad_input, grad_output):
    for _ in range(2):
        answer.extend([*grad_input, *grad_output])
