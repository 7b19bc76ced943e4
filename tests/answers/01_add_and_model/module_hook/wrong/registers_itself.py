# mistake: hook_left
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])
    module.register_full_backward_hook(module_hook)
