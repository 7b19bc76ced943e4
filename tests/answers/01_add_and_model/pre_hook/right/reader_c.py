from typing import Optional, Tuple


def _store_all(tensors):
    global answer
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"expected a tensor, got {type(tensor)}")
        answer.append(tensor.detach().clone())


def pre_hook(module: nn.Module, input: Tuple[torch.Tensor, ...]) -> None:
    """Store x1 and x2 in answer."""
    assert isinstance(module, Add)
    if not isinstance(input, tuple):
        input = (input,)
    if len(input) != 2:
        raise ValueError("Add takes exactly two inputs")
    _store_all(input)
    return None
