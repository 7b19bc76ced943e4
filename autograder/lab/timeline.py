"""Who runs when: record the order of hook events by really running a small model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

__all__ = ["LANES", "TENSORS", "Event", "WrongModel", "number", "record_timeline"]

#: Where an event can happen, in the order in which the picture draws its columns.
LANES = ("you", "output", "module", "W", "x1, x2")
#: The tensors of the run, in the order in which values reach them.
TENSORS = ("x1", "x2", "W", "output")
_NOTHING: Mapping[str, str] = MappingProxyType({})


class WrongModel(ValueError):
    """A picture can't show this model; the message says why."""


class Event(NamedTuple):
    """One thing that happened during a run."""

    lane: str
    """Where it happened: one of `LANES`."""
    name: str
    """What ran there."""
    handed: str = ""
    """What it was handed, as in a call: ``module, grad_output = (1,)``."""
    values: Mapping[str, str] = _NOTHING
    """By tensor: the values that were known by then."""
    gradients: Mapping[str, str] = _NOTHING
    """By tensor: the gradients that hooks had been handed by then."""
    grads: Mapping[str, str] = _NOTHING
    """By tensor: what its attribute ``.grad`` was at that moment."""

    def __str__(self) -> str:
        return f"{self.lane}: {self.name}"


class _Notes:
    """Collects events; at each it looks what is known by then."""

    def __init__(self, leaves: Mapping[str, Tensor]) -> None:
        self.events: list[Event] = []
        self.values = {name: number(tensor) for name, tensor in leaves.items()}
        self.gradients: dict[str, str] = {}
        self._leaves = leaves

    def add(self, lane: str, name: str, handed: str = "") -> None:
        grads = {name: number(tensor.grad) for name, tensor in self._leaves.items()}
        self.events.append(
            Event(lane, name, handed, dict(self.values), dict(self.gradients), grads)
        )

    # The hooks. Each returns None, which means "only look".

    def pre_hook(self, _: nn.Module, args: Any) -> None:
        self.add("module", "forward_pre_hook", f"module, input = {number(args)}")

    def forward_hook(self, _: nn.Module, args: Any, output: Any) -> None:
        self.values["output"] = number(output)
        handed = f"module, input = {number(args)}, output = {number(output)}"
        self.add("module", "forward_hook", handed)

    def backward_pre_hook(self, _: nn.Module, grad_output: Any) -> None:
        self.add("module", "full_backward_pre_hook", f"module, grad_output = {number(grad_output)}")

    def backward_hook(self, _: nn.Module, grad_input: Any, grad_output: Any) -> None:
        self.gradients.update(zip(("x1", "x2"), map(number, grad_input), strict=False))
        self.add(
            "module",
            "full_backward_hook",
            f"module, grad_input = {number(grad_input)}, grad_output = {number(grad_output)}",
        )

    def tensor_hook(self, lane: str, name: str, tensor: str) -> Any:
        def look(grad: Tensor) -> None:
            self.gradients[tensor] = number(grad)
            self.add(lane, name, f"grad = {number(grad)}")

        return look

    def post_hook(self, weight: Tensor) -> None:
        self.add("W", "post_accumulate_grad_hook", f"W itself; W.grad is {number(weight.grad)}")


def record_timeline(model: nn.Module, x1: float | Tensor, x2: float | Tensor) -> list[Event]:
    """Run ``model(x1, x2)`` and ``backward()`` once, and write down who is called when.

    Nothing in the list is typed in: one hook of every kind sits on the model, on its parameter
    ``W``, on the inputs and on the output, and each adds an event when torch calls it.

    Args:
        model: a module with one parameter called ``W`` and ``forward(x1, x2)``. Afterwards it
            has no hook more than before and its ``W.grad`` is what it was.
        x1, x2: numbers or tensors of shape (1,). They are copied, never written to.

    Returns:
        The events in the order in which they happened.

    Raises:
        WrongModel: when the model has no parameter ``W``.
    """
    weight = parameter_w(model)
    inputs = {"x1": leaf(x1), "x2": leaf(x2)}
    grad_before, weight.grad = weight.grad, None
    notes = _Notes({**inputs, "W": weight})
    own_forward = vars(model).get("forward")
    run_forward = model.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        handed = ", ".join(
            f"{name} = {number(value)}" for name, value in zip(inputs, args, strict=False)
        )
        notes.add("module", "forward", handed)
        return run_forward(*args, **kwargs)

    handles = [
        model.register_forward_pre_hook(notes.pre_hook),
        model.register_forward_hook(notes.forward_hook),
        model.register_full_backward_pre_hook(notes.backward_pre_hook),
        model.register_full_backward_hook(notes.backward_hook),
        weight.register_hook(notes.tensor_hook("W", "tensor hook", "W")),
        weight.register_post_accumulate_grad_hook(notes.post_hook),
        *(
            tensor.register_hook(notes.tensor_hook("x1, x2", f"tensor hook on {name}", name))
            for name, tensor in inputs.items()
        ),
    ]
    # forward() is no hook. It is wrapped on this one object; the class stays as it is.
    model.forward = forward
    try:
        with torch.enable_grad():
            notes.add("you", "model(x1, x2)")
            output = model(*inputs.values())
            output.register_hook(notes.tensor_hook("output", "tensor hook", "output"))
            notes.add("you", "output.backward()")
            output.backward()
            notes.add("you", "backward() is done")
    finally:
        for handle in handles:
            handle.remove()
        if own_forward is None:
            del model.forward
        else:
            model.forward = own_forward
        weight.grad = grad_before
    return notes.events


def number(value: Any) -> str:
    """Write a number, a tensor of one number or a tuple of them short: 15, -2.5, (2, None)."""
    if isinstance(value, tuple):
        inside = ", ".join(map(number, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, Tensor):
        if value.numel() != 1:
            return f"a tensor of shape {tuple(value.shape)}"
        value = value.item()
    # Adding 0.0 turns -0 into 0.
    return f"{value + 0.0:.4g}" if isinstance(value, (int, float)) else repr(value)


def leaf(value: float | Tensor) -> Tensor:
    """Return a fresh float tensor of shape (1,) that asks for a gradient."""
    copy = value.detach() if isinstance(value, Tensor) else torch.tensor(float(value))
    return copy.clone().float().reshape(1).requires_grad_()


def parameter_w(model: nn.Module) -> nn.Parameter:
    """Return the model's parameter ``W``; raise WrongModel when it has none."""
    weight = getattr(model, "W", None)
    if not isinstance(weight, nn.Parameter):
        raise WrongModel(f"the model needs a parameter called W, but W is {type(weight).__name__}")
    return weight
