"""The numbers of one run: every tensor on the way of ``x1 * x2 * W``, and its gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder.lab.timeline import leaf, parameter_w

__all__ = ["run_values"]


class _KeepProducts(TorchFunctionMode):
    """Keep every result of a calculation that takes part in backward, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Tensor] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.grad_fn is not None:
            self.kept.append(result)
        return result


def run_values(
    model: nn.Module, x1: float | Tensor, x2: float | Tensor
) -> dict[str, tuple[float, float]]:
    """Run a model that computes ``x1 * x2 * W`` forward and backward.

    Args:
        model: a module with a parameter ``W`` of shape (1,); its ``W.grad`` is put back.
        x1, x2: numbers or tensors of shape (1,). They are copied.

    Returns:
        (value, gradient) for each of "x1", "x2", "product" (x1 * x2), "W" and "output".

    Raises:
        TypeError: when the model has no parameter ``W``.
        ValueError: when the run makes other calculations than two products.
    """
    first, second = leaf(x1), leaf(x2)
    weight = parameter_w(model)
    grad_before, weight.grad = weight.grad, None
    try:
        with torch.enable_grad(), _KeepProducts() as products:
            output = model(first, second)
        if len(products.kept) != 2:
            raise ValueError(
                "this picture shows a model with two multiplications and no hooks, "
                f"but this run made {len(products.kept)} calculations"
            )
        for tensor in products.kept:
            tensor.retain_grad()
        output.backward()
        tensors = (first, second, products.kept[0], weight, products.kept[1])
        names = ("x1", "x2", "product", "W", "output")
        return {
            name: (tensor.item(), float("nan") if tensor.grad is None else tensor.grad.item())
            for name, tensor in zip(names, tensors, strict=True)
        }
    finally:
        weight.grad = grad_before
