# mistake: local_name
def module_hook(module, grad_input, grad_output):
    g1, g2 = grad_input
    g_out = grad_output[0]
    print(g1, g2, g_out)
    answer += [g1, g2, g_out]
    return grad_input
