# mistake: softmax
def normalise_hook(module, grad_input, grad_output):
    p = torch.softmax(torch.cat(grad_input), dim=0)
    return p[:1], p[1:]
