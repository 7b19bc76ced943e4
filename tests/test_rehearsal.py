"""What the warm server does before it forks, and how a child sees that names were written to."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.engine import touched
from autograder.engine.space import restore, snapshot

REHEARSED = """
import json, os
import torch
torch.set_num_threads(1)
import autograder.lab
from autograder.engine import frames, rehearsal
from autograder.engine.shell import Shell

sent = []
packed = frames.packed
frames.packed = lambda message: sent.append(message) or packed(message)
shell = Shell.start()
before = set(shell.user_ns)
hooks = {name: len(value) for name, value in vars(torch.nn.modules.module).items()
         if name.startswith("_global_") and isinstance(value, dict)}
threads = len(os.listdir("/proc/self/task"))  # torch's own too, which Python does not know
rehearsal.rehearse(shell)
after = {name: len(value) for name, value in vars(torch.nn.modules.module).items()
         if name.startswith("_global_") and isinstance(value, dict)}
print(json.dumps({
    "outputs": [message["outputs"] for message in sent],
    "names": sorted(set(shell.user_ns) ^ before),
    "hooks": hooks == after,
    "threads": len(os.listdir("/proc/self/task")) - threads,
    "count": shell.execution_count,
    "dtype": str(torch.get_default_dtype()),
    "grad": torch.is_grad_enabled(),
}))
"""


def test_a_rehearsal_does_what_it_says_and_leaves_nothing() -> None:
    ran = subprocess.run([sys.executable, "-c", REHEARSED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert len(seen["outputs"]) == 10
    for outputs in seen["outputs"]:
        errors = [output for output in outputs if output["output_type"] == "error"]
        assert [error["evalue"] for error in errors] == ["a rehearsal"], errors
        shown = "".join(json.dumps(output) for output in outputs)
        assert "BackwardHookFunction" in shown and "Linear(in_features=2" in shown
    del seen["outputs"]
    assert seen == {
        "names": [],
        "hooks": True,
        "threads": 0,
        "count": 1,
        "dtype": "torch.float32",
        "grad": True,
    }


class Given:
    x = 1


def change_dict(names: dict[str, Any], owner: Any, module: Any) -> None:
    names["a"] = 3


def add_to_dict(names: dict[str, Any], owner: Any, module: Any) -> None:
    names.update(z=1)


def delete_from_dict(names: dict[str, Any], owner: Any, module: Any) -> None:
    del names["a"]


def patch_class(names: dict[str, Any], owner: Any, module: Any) -> None:
    owner.x = 2


def add_to_class(names: dict[str, Any], owner: Any, module: Any) -> None:
    owner.y = 2


def patch_module(names: dict[str, Any], owner: Any, module: Any) -> None:
    module.f = len


def delete_from_module(names: dict[str, Any], owner: Any, module: Any) -> None:
    del module.f


CHANGES = [
    (change_dict, 0), (add_to_dict, 0), (delete_from_dict, 0), (patch_class, 1), (add_to_class, 1),
    (patch_module, 2), (delete_from_module, 2),
]  # fmt: skip


@pytest.mark.parametrize("works", [True, False], ids=["tag", "no tag"])
@pytest.mark.parametrize(
    ("change", "which"), CHANGES, ids=lambda value: getattr(value, "__name__", "")
)
def test_each_change_is_seen(
    change: Callable[..., None], which: int, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not works:
        monkeypatch.setattr(touched, "_WORKS", False)
    names: dict[str, Any] = {"a": 1, "b": 2}
    owner: Any = type("Owner", (Given,), {"x": 1})
    module: Any = types.ModuleType("made")
    module.f = max
    asks = [touched.touched(vars(o) if o is not names else names) for o in (names, owner, module)]
    # Reading changes nothing, and without the number nothing is ever sure.
    dict(names), dict(vars(owner)), owner.x, module.f, list(names)
    assert [ask() for ask in asks] == [not works] * 3
    change(names, owner, module)
    assert asks[which]()


def test_here_the_number_works() -> None:
    """Otherwise each child pays for looking at all of torch's names."""
    assert (sys.version_info < (3, 14)) == touched._WORKS


def test_what_was_patched_is_put_back_and_what_was_not_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = snapshot()
    zeros, relu = torch.zeros, torch.nn.functional.relu
    monkeypatch.setattr(torch, "zeros", torch.ones)
    monkeypatch.delattr(torch.nn.functional, "relu")
    patched: Any = torch.Tensor
    patched.mine = 1
    restore(kept)
    assert torch.zeros is zeros and torch.nn.functional.relu is relu
    assert not hasattr(torch.Tensor, "mine")
