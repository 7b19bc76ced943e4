# mistake: scalar_for_tensor
def module_hook(module, grad_input, grad_output):
    answer.append(grad_input[0].item())
    answer.append(grad_input[1].item())
    answer.append(grad_output[0].item())
