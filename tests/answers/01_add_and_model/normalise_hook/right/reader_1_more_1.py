def normalise_hook(module, grad_input, grad_output):
    total = grad_input[0].item() + grad_input[1].item()
    return grad_input[0] / total, grad_input[1] / total
