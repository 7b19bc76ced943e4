# mistake: missing_name
def tensor_hook(grad):
    answer.append(grad_input[0])
