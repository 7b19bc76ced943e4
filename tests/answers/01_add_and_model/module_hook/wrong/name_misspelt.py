# mistake: missing_name
def modul_hook(module, grad_input, grad_output):
    answer.extend(grad_input + grad_output)
