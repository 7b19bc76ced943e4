class GradientStore:
    def __init__(self):
        self.gradients = {}

    def save(self, name, grad):
        self.gradients[name] = grad.detach().cpu().clone()
        return self.gradients[name]


store = GradientStore()


def tensor_hook(grad: torch.Tensor) -> torch.Tensor:
    """Store the gradient of W in answer."""
    global answer
    if not isinstance(grad, torch.Tensor):
        raise TypeError("grad must be a tensor")
    answer.append(store.save("W", grad))
    return grad
