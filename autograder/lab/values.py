"""The numbers of one run: every tensor on the way of ``x1 * x2 * W``, and its gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder.lab.timeline import WrongModel, leaf, parameter_w

__all__ = ["run_values"]


class _KeepProducts(TorchFunctionMode):
    """Keep every calculation that takes part in backward, in order: (what went in, result)."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[tuple[Any, ...], Tensor]] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.grad_fn is not None:
            self.kept.append((args, result))
        return result


def run_values(
    model: nn.Module, x1: float | Tensor, x2: float | Tensor, grad_output: float | None = None
) -> dict[str, tuple[float, float]]:
    """Run a model that computes ``x1 * x2 * W`` forward and backward, with hooks that look.

    Args:
        model: a module with a parameter ``W`` of shape (1,); its ``W.grad`` is put back.
        x1, x2: numbers or tensors of shape (1,). They are copied.
        grad_output: the gradient that comes in from behind; None: ``backward()`` gets none.

    Returns:
        (value, gradient) for each of "x1", "x2", "product" (x1 * x2), "W" and "output". The
        gradients are those that hooks were handed; nan where none came.

    Raises:
        WrongModel: when the model has no parameter ``W``, or when the run makes other
            calculations than these two products.
    """
    inputs = (leaf(x1), leaf(x2))
    weight = parameter_w(model)
    grad_before, weight.grad = weight.grad, None
    gradients: dict[str, Tensor | None] = {}

    def at_module(_: nn.Module, grad_input: Any, grad_output: Any) -> None:
        names = ("x1", "x2", "output")
        gradients.update(zip(names, (*grad_input, *grad_output), strict=True))

    def at(name: str) -> Any:
        def look(grad: Tensor) -> None:
            gradients[name] = grad

        return look

    handles = [model.register_full_backward_hook(at_module), weight.register_hook(at("W"))]
    try:
        with torch.enable_grad(), _KeepProducts() as products:
            output = model(*inputs)
        product = _product(products, *inputs, weight)
        product.register_hook(at("product"))
        output.backward(None if grad_output is None else torch.full_like(output, grad_output))
        values = dict(zip(("x1", "x2"), inputs, strict=True))
        values |= {"product": product, "W": weight, "output": output}
        return {
            name: (tensor.item(), _item(gradients.get(name))) for name, tensor in values.items()
        }
    finally:
        for handle in handles:
            handle.remove()
        weight.grad = grad_before


def _product(products: _KeepProducts, x1: Tensor, x2: Tensor, weight: Tensor) -> Tensor:
    """The result of ``x1 * x2``; ValueError when something else was worked out."""
    if len(products.kept) != 2:
        raise WrongModel(
            "this picture shows a model with two multiplications and no hooks, "
            f"but this run made {len(products.kept)} calculations"
        )
    (first, product), (second, output) = products.kept
    for factors, result, wanted in (
        (first, product, (x1, x2)),
        (second, output, (product, weight)),
    ):
        # A module with a backward hook hands views on, so the memory tells who is who.
        places = {factor.data_ptr() for factor in factors if isinstance(factor, Tensor)}
        if places != {tensor.data_ptr() for tensor in wanted} or not _multiplied(result):
            raise ValueError(
                "this picture shows a model that computes x1 * x2 * W and nothing else"
            )
    return product


def _multiplied(result: Tensor) -> bool:
    return result.grad_fn is not None and result.grad_fn.name().startswith("MulBackward")


def _item(gradient: Tensor | None) -> float:
    return float("nan") if gradient is None else gradient.item()
