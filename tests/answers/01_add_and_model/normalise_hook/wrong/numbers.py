# mistake: wrong_return
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input).item()
    return grad_input[0].item() / total, grad_input[1].item() / total
