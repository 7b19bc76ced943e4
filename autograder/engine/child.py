"""The forked child: runs the cells of one plan and sends a frame for each.

Nothing here is trusted by the parent. A check cell is run with a sink in place of ``expect``,
which keeps the values; the parent compares them. In a reference run, where the cells are the
master's own, the sink keeps the expected values and mistakes as well.
"""

from __future__ import annotations

import builtins
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
from .space import Space, reset_torch


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
    space = Space(shell.user_ns)
    seeders = _seeders()
    for cell in job["cells"]:
        for seed in seeders:
            seed(cell["seed"])
        shell.outputs.start()
        if cell["role"] == "check" and "expect" in cell["source"]:
            report = _check(shell, space, cell, whole=job["whole"])
        else:
            report = _cell(shell, cell["source"])
        if cell["role"] == "given":
            space.keep()
        frames.send(fd, {"cell": cell["id"], **report, "outputs": shell.outputs.items})
    os._exit(0)


def _cell(shell: Shell, source: str) -> dict[str, Any]:
    result = shell.run_cell(source, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    return {"error": marking.encode(marking.raised(error)) if error else None, "values": []}


def _check(shell: Shell, space: Space, cell: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    reset_torch()
    values: list[Any] = []
    # Not through IPython: no transformer of the learner's sees it, no history keeps it.
    code = compile(cell["source"], f"<check of {cell['id']}>", "exec")
    rebound = space.prepare(code)
    if rebound is not None:
        return {"error": marking.encode(marking.Raised(marking.REBOUND, rebound)), "values": []}
    shell.user_ns["expect"] = _whole_sink(values) if whole else _sink(values)
    error = None
    try:
        exec(code, shell.user_ns)
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


def _seeders() -> list[Callable[[int], Any]]:
    """What seeds python, numpy and torch, taken before any learner code ran."""
    found: list[Callable[[int], Any]] = [random.seed]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        plant = numpy.random.seed
        found.append(lambda seed: plant(seed % 2**32))
    if torch is not None:
        # Not torch.manual_seed: it formats stack traces for devices that aren't there.
        found.append(torch.default_generator.manual_seed)
    return found
