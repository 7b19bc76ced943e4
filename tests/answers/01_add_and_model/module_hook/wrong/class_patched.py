# mistake: class_edited
def module_hook(module, grad_input, grad_output):
    answer.extend([*grad_input, *grad_output])

def forward(self, x1, x2):
    x1.register_hook(lambda grad: answer.append(grad))
    return x1 * x2 * self.W

def plain(self):
    nn.Module.__init__(self)
    self.W = Parameter(torch.ones(1))

Model.__init__ = plain
