def normalise_hook(module, grad_input, grad_output):
    both = torch.cat(grad_input)
    both = both / both.sum()
    return both[:1], both[1:]
