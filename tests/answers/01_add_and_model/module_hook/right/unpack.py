def module_hook(module, grad_input, grad_output):
    gx1, gx2 = grad_input
    (gout,) = grad_output
    answer.extend([gx1.clone(), gx2.clone(), gout.clone()])
