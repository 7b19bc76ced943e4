"""What a check cell stands on: names, and torch's switches, as the lesson left them.

A learner's code may have bound a name that the check needs to something else, or left a default
dtype or a global hook behind. What can be put back without changing what the learner did is put
back; a Python builtin or a module that now means something else is told by name, because the
check, and whoever reads its message, could make nothing of what follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, MutableMapping
from types import ModuleType
from typing import Any

from autograder import marking

from .touched import touched

_OURS = "autograder."
_GLOBAL_HOOKS = (
    "_global_forward_pre_hooks",
    "_global_forward_hooks",
    "_global_forward_hooks_with_kwargs",
    "_global_forward_hooks_always_called",
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
)


# Where a check's own code looks up what it calls; a learner may have patched something there.
_SHARED = (
    "builtins",
    "random",
    "numpy",
    "torch",
    "torch:Tensor",
    "torch.nn",
    "torch.nn:Module",
    "torch.nn:Parameter",
    "torch.nn.functional",
    "torch.autograd",
    "autograder.lab",
    "autograder.marking",
)
_Kept = tuple[Any, dict[str, Any], Callable[[], bool]]  # owner, names, whether it may differ
Snapshot = list[_Kept]


def snapshot() -> Snapshot:
    """The functions of torch and others as they are; taken before any learner code ran."""
    found = []
    for place in _SHARED:
        module, _, name = place.partition(":")
        owner = sys.modules.get(module)
        if owner is not None:
            owner = getattr(owner, name) if name else owner
            found.append(_kept(owner))
    return found


def _kept(owner: Any) -> _Kept:
    return owner, dict(vars(owner)), touched(vars(owner))


def restore(kept: Snapshot) -> None:
    """Put patched functions back, so that one exercise's patch costs no other exercise."""
    for owner, before, may_differ in kept:
        if not may_differ():
            continue
        now = dict(vars(owner))
        for name in now.keys() | before.keys():
            if name in before and now.get(name, _GONE) is not before[name]:
                setattr(owner, name, before[name])
            elif name not in before and isinstance(owner, type):
                delattr(owner, name)  # modules gain submodules as they are used; classes don't


_GONE = object()


class Space:
    """The names that given cells bound to modules and to things of ``autograder.lab``."""

    def __init__(self, names: MutableMapping[str, Any], libraries: Snapshot) -> None:
        self._names = names
        self._libraries = libraries
        self._modules: dict[str, ModuleType] = {}
        self._helpers: dict[str, Any] = {}
        self._classes: dict[str, _Kept] = {}

    def keep(self) -> None:
        """Remember what stands there now; called after each given cell."""
        for name, value in self._names.items():
            if name.startswith("_"):
                continue
            if isinstance(value, ModuleType):
                self._modules.setdefault(name, value)
            elif str(getattr(value, "__module__", "")).startswith(_OURS):
                self._helpers.setdefault(name, value)
            elif isinstance(value, type) and value.__module__ == "__main__":
                self._classes.setdefault(name, _kept(value))

    def edited(self) -> bool:
        """Whether a given class was replaced or patched, so that it might do a hook's work."""
        return any(
            self._names.get(name) is not given or (may_differ() and dict(vars(given)) != before)
            for name, (given, before, may_differ) in self._classes.items()
        )

    def mend(self) -> None:
        """Put the given classes back."""
        restore(list(self._classes.values()))
        self._names.update({name: given for name, (given, _, _) in self._classes.items()})

    def prepare(self, reads: Iterable[str]) -> str | None:
        """Make ready for a check; the first name that it needs and that is bound otherwise."""
        restore(self._libraries)
        self._names.update(self._helpers)
        for name in reads:
            module = self._modules.get(name)
            if module is not None and self._names.get(name, module) is not module:
                return name
        return marking.rebound_builtin(self._names, reads)


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
