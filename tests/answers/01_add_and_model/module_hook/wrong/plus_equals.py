# mistake: local_name
def module_hook(module, grad_input, grad_output):
    answer += grad_input
    answer += grad_output
