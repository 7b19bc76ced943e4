# mistake: wrong_unpack
def module_hook(module, grad_input, grad_output):
    g1, g2, gout = grad_input
    answer.extend([g1, g2, gout])
