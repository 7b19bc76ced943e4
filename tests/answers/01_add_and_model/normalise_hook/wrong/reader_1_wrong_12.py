# mistake: softmax
def normalise_hook(module, grad_input, grad_output):
    return tuple(torch.softmax(torch.stack(grad_input), dim=0))
