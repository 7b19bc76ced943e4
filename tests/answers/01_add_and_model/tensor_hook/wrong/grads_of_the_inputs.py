# mistake: gradients_of_inputs
def tensor_hook(grad):
    answer.append(x1.grad)
    answer.append(x2.grad)
