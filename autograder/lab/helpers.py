"""Small hooks that an exercise brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn


def record_inputs(store: list[Any]) -> Callable[[nn.Module, tuple[Any, ...]], None]:
    """A forward pre-hook that adds a module's positional inputs to ``store``, in order."""

    def pre_hook(module: nn.Module, args: tuple[Any, ...]) -> None:
        store.extend(args)

    return pre_hook
