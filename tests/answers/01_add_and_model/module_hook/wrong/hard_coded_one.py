# mistake: hard_coded_one
def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(torch.ones(1))
