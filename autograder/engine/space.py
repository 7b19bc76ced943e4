"""What a check cell stands on: names, and torch's switches, as the lesson left them.

A learner's code may have bound a name that the check needs to something else, or left a default
dtype or a global hook behind. What can be put back without changing what the learner did is put
back; a Python builtin or a module that now means something else is told by name, because the
check, and whoever reads its message, could make nothing of what follows.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, MutableMapping
from types import CodeType, ModuleType
from typing import Any

_OURS = "autograder."
_GLOBAL_HOOKS = (
    "_global_forward_pre_hooks",
    "_global_forward_hooks",
    "_global_forward_hooks_with_kwargs",
    "_global_forward_hooks_always_called",
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
)


class Space:
    """The names that given cells bound to modules and to things of ``autograder.lab``."""

    def __init__(self, names: MutableMapping[str, Any]) -> None:
        self._names = names
        self._modules: dict[str, ModuleType] = {}
        self._helpers: dict[str, Any] = {}

    def keep(self) -> None:
        """Remember what stands there now; called after each given cell."""
        for name, value in self._names.items():
            if name.startswith("_"):
                continue
            if isinstance(value, ModuleType):
                self._modules.setdefault(name, value)
            elif str(getattr(value, "__module__", "")).startswith(_OURS):
                self._helpers.setdefault(name, value)

    def prepare(self, code: CodeType) -> str | None:
        """Make ready for a check; the first name that it needs and that is bound otherwise."""
        self._names.update(self._helpers)
        for name in _used(code):
            module = self._modules.get(name)
            if module is not None and self._names.get(name) is not module:
                return name
            if name in self._names and hasattr(builtins, name) and name not in self._helpers:
                return name
        return None


def _used(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _used(const)


def reset_torch() -> None:
    """Put torch's process-wide switches back: dtype, device, gradients, threads, global hooks."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    torch.set_default_dtype(torch.float32)
    if torch.get_default_device().type != "cpu":
        torch.set_default_device(None)
    torch.set_grad_enabled(True)
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    module = torch.nn.modules.module
    for name in _GLOBAL_HOOKS:
        hooks = getattr(module, name, None)
        if hooks:
            hooks.clear()
