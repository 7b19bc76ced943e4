"""The forked child: runs the cells of one plan and sends a frame for each.

Nothing here is trusted by the parent. A check cell is run with a sink in place of ``expect``,
which keeps the values; the parent compares them. In a reference run, where the cells are the
master's own, the sink keeps the expected values and mistakes as well.
"""

from __future__ import annotations

import builtins
import hashlib
import os
import random
import resource
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from autograder import marking

from . import frames
from .limits import Limits
from .shell import Shell, refuse_input


def run(job: dict[str, Any], fd: int) -> NoReturn:
    """Run a job's cells; never returns. ``fd`` takes the frames."""
    limits = Limits(**job["limits"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes,) * 2)
    os.environ["NBGRADER_EXECUTION"] = "autograde"  # check() does nothing then
    if not job["figures"]:
        os.environ["AUTOGRADER_FIGURES"] = "0"
    os.chdir(job["folder"])
    builtins.input = refuse_input  # type: ignore[assignment]
    shell = Shell.start()
    shell.capture(limits)
    seed = _Seeder(job["secret"])
    for cell in job["cells"]:
        seed(cell["id"])
        shell.outputs.start()
        if cell["role"] == "check":
            report = _check(shell, cell, whole=job["whole"])
        else:
            report = _cell(shell, cell["source"])
        frames.send(fd, {"cell": cell["id"], **report, "outputs": shell.outputs.items})
    os._exit(0)


def _cell(shell: Shell, source: str) -> dict[str, Any]:
    result = shell.run_cell(source, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    return {"error": marking.encode(marking.raised(error)) if error else None, "values": []}


def _check(shell: Shell, cell: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    _reset()
    values: list[Any] = []
    name = f"<check of {cell['id']}>"
    space = shell.user_ns
    space["expect"] = _whole_sink(values) if whole else _sink(values)
    error = None
    try:
        # Not through IPython: no transformer of the learner's sees it, no history keeps it.
        exec(compile(cell["source"], name, "exec"), space)
    except BaseException as raised:
        error = marking.encode(marking.raised(raised))
    return {"error": error, "values": values}


def _sink(values: list[Any]) -> Callable[..., None]:
    def expect(actual: object, *rest: object, **named: object) -> None:
        values.append(marking.encode(marking.observe(actual)))

    return expect


def _whole_sink(values: list[Any]) -> Callable[..., None]:
    def expect(
        actual: object,
        expected: object,
        what: str,
        *,
        mistakes: dict[str, object] | None = None,
        accepted: dict[str, object] | None = None,
    ) -> None:
        # The learner's value first, as in a notebook: it may change what the others are made of.
        seen = marking.encode(marking.observe(actual))
        values.append(
            {
                "actual": seen,
                "what": what,
                "expected": marking.encode(marking.freeze(expected)),
                "mistakes": _encoded(mistakes),
                "accepted": _encoded(accepted),
            }
        )

    return expect


def _encoded(table: dict[str, object] | None) -> list[list[Any]]:
    return [[name, marking.encode(marking.freeze(v))] for name, v in (table or {}).items()]


class _Seeder:
    """Seeds python, numpy and torch from the run's secret and the cell's id."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        # Kept from before any learner code ran; torch's own manual_seed is slow (it formats
        # stack traces for devices that aren't there).
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        self._seeds: list[Callable[[int], Any]] = [random.seed]
        if numpy is not None:
            plant = numpy.random.seed
            self._seeds.append(lambda seed: plant(seed % 2**32))
        if torch is not None:
            self._seeds.append(torch.default_generator.manual_seed)

    def __call__(self, cell: str) -> None:
        digest = hashlib.sha256(f"{self._secret}|{cell}".encode()).digest()
        seed = int.from_bytes(digest[:7], "big")
        for plant in self._seeds:
            plant(seed)


def _reset() -> None:
    """What a cell may have left switched on or off in torch."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
