# accepted: in_place
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    grad_input[0].div_(total)
    grad_input[1].div_(total)
