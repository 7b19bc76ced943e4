# The post's own solution: rebinding, then returning.
def normalise_hook(module, grad_input, grad_output):
    grad_input = tuple(map(lambda x: x / sum(grad_input), grad_input))
    return grad_input
