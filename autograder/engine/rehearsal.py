"""What lessons do, done in the server before its first fork.

Python fits its bytecode to what runs, torch imports some modules at first use, and a child pays a
page of memory for each place where that leaves a mark. What was done here, no child does again.
Backward is left to the children: once torch's engine has run, backward calls that are nested more
than 60 deep crash in a fork (torch 2.13: its pool of threads is not made again).
Nothing here is anybody's answer, and of names, hooks and switches nothing stays.
"""

from __future__ import annotations

import sys
from typing import Any

from autograder import marking

from . import frames
from .limits import Limits
from .shell import Shell

_TIMES = 10  # Python fits code to its use from the eighth time on

_LESSON = """
class _Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.W = torch.nn.Parameter(torch.tensor([[2.0, 3.0]]))
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x1, x2):
        return self.inner(x1 * self.W).relu() + x2

def _run():
    seen = []
    layer = _Layer()
    handles = [
        layer.register_forward_pre_hook(lambda module, args: (args[0] * 2, args[1])),
        layer.register_forward_hook(lambda module, args, output: output + 1),
        layer.register_full_backward_pre_hook(lambda module, grad_output: None),
        layer.register_full_backward_hook(lambda module, *grads: seen.append(grads)),
        layer.inner.register_full_backward_hook(lambda module, grad_input, grad_output: None),
    ]
    x1, x2 = torch.randn(1, 2, requires_grad=True), torch.randn(2)
    x1.register_hook(lambda grad: grad / grad.norm())
    y = layer(x1, x2)
    y.retain_grad()
    y.sum()
    for handle in handles:
        handle.remove()
    layer(x1, x2).mean()
    with torch.no_grad():
        layer(x1.detach(), torch.zeros(2)).sum().item()
    print(x1, y, x1.grad, layer.W, list(layer.parameters()), y.shape, y.grad_fn)
    return torch.allclose(y, y.clone()), repr(layer), seen

_run()
"""
_FAILS = "raise ValueError('a rehearsal')"


def rehearse(shell: Shell) -> None:
    """Do what lessons do, and leave the shell and torch as they were."""
    streams = sys.stdout, sys.stderr
    before = dict(shell.user_ns)
    shell.capture(Limits())
    torch: Any = sys.modules.get("torch")
    try:
        for _ in range(_TIMES):
            shell.outputs.start()
            shell.run_cell("def _add(x):\n    return x + 1\n_add(1)")
            shell.run_cell(_FAILS)
            if torch is not None:
                shell.user_ns["torch"] = torch
                shell.run_cell(_LESSON)
                _observe(torch)
            frames.packed({"cell": "rehearsal", "outputs": shell.outputs.items})
    finally:
        sys.stdout, sys.stderr = streams
        shell.user_ns.clear()
        shell.user_ns.update(before)


def _observe(torch: Any) -> None:
    value = {"x1": torch.ones(2), "grads": [None, torch.zeros(1, 2)], "number": 2.0}
    marking.encode(marking.observe(lambda: value))
    marking.encode(marking.freeze((value, "text")))
