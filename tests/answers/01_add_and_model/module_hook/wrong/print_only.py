# mistake: nothing_stored
def module_hook(module, grad_input, grad_output):
    print(grad_input, grad_output)
