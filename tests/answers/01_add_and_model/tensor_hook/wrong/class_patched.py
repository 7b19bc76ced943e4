# mistake: class_edited
def tensor_hook(grad):
    answer.append(grad)

def forward(self, x1, x2):
    self.W.register_hook(lambda grad: 2 * grad)
    return x1 * x2 * self.W

Model.forward = forward
