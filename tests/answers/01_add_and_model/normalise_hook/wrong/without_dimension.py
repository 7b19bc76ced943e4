# mistake: wrong_size
def normalise_hook(module, grad_input, grad_output):
    both = torch.cat(grad_input)
    both = both / both.sum()
    return both[0], both[1]
