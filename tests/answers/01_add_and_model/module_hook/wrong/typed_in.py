# mistake: old_grad
def module_hook(module, grad_input, grad_output):
    answer.extend([torch.tensor([15.0]), torch.tensor([10.0]), torch.tensor([1.0])])
