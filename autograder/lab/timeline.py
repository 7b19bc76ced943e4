"""Who runs when: record the order of hook events by really running a small model."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

__all__ = ["LANES", "Event", "record_timeline"]

#: Where an event can happen, in the order in which the picture draws its columns.
LANES = ("you", "output", "module", "W", "x1, x2")


class Event(NamedTuple):
    """One thing that happened during a run."""

    lane: str
    """Where it happened: one of `LANES`."""
    name: str
    """What ran there."""

    def __str__(self) -> str:
        return f"{self.lane}: {self.name}"


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
        TypeError: when the model has no parameter ``W``.
    """
    weight = parameter_w(model)
    events: list[Event] = []

    def note(lane: str, name: str) -> Any:
        # A hook may take any number of arguments; returning None means "only look".
        def look(*_: Any) -> None:
            events.append(Event(lane, name))

        return look

    inputs = [leaf(x1), leaf(x2)]
    grad_before, weight.grad = weight.grad, None
    own_forward = vars(model).get("forward")
    run_forward = model.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        events.append(Event("module", "forward"))
        return run_forward(*args, **kwargs)

    handles = [
        model.register_forward_pre_hook(note("module", "forward_pre_hook")),
        model.register_forward_hook(note("module", "forward_hook")),
        model.register_full_backward_pre_hook(note("module", "full_backward_pre_hook")),
        model.register_full_backward_hook(note("module", "full_backward_hook")),
        weight.register_hook(note("W", "tensor hook")),
        weight.register_post_accumulate_grad_hook(note("W", "post_accumulate_grad_hook")),
        inputs[0].register_hook(note("x1, x2", "tensor hook on x1")),
        inputs[1].register_hook(note("x1, x2", "tensor hook on x2")),
    ]
    # forward() is no hook. It is wrapped on this one object; the class stays as it is.
    model.forward = forward
    try:
        with torch.enable_grad():
            events.append(Event("you", "model(x1, x2)"))
            output = model(*inputs)
            output.register_hook(note("output", "tensor hook"))
            events.append(Event("you", "output.backward()"))
            output.backward()
            events.append(Event("you", "backward() is done"))
    finally:
        for handle in handles:
            handle.remove()
        if own_forward is None:
            del model.forward
        else:
            model.forward = own_forward
        weight.grad = grad_before
    return events


def leaf(value: float | Tensor) -> Tensor:
    """Return a fresh float tensor of shape (1,) that asks for a gradient."""
    copy = value.detach() if isinstance(value, Tensor) else torch.tensor(float(value))
    return copy.clone().float().reshape(1).requires_grad_()


def parameter_w(model: nn.Module) -> nn.Parameter:
    """Return the model's parameter ``W``; raise TypeError when it has none."""
    weight = getattr(model, "W", None)
    if not isinstance(weight, nn.Parameter):
        raise TypeError(f"the model needs a parameter called W, but W is {type(weight).__name__}")
    return weight
