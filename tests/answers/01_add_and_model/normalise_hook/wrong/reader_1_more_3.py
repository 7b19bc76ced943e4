# mistake: wrong_return
def normalise_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    return (grad_input[0] / total).item(), (grad_input[1] / total).item()
