# mistake: wrong_arity
def module_hook(grad_input, grad_output):
    answer.extend(grad_input + grad_output)
