# mistake: class_edited
def normalise_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(g / total for g in grad_input)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = Parameter(torch.Tensor([5]))

    def forward(self, x1, x2):
        return x1 * x2
