def normalise_hook(module, grad_input, grad_output):
    factor = 1 / sum(g.detach().clone() for g in grad_input)
    print("factor", factor)
    return (factor * grad_input[0], factor * grad_input[1])
