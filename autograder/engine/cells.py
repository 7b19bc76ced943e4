"""Runs the cells of one plan and says what became of each, in whatever process it is.

Nothing here is trusted by the parent. A check cell is run with a sink in place of ``expect``,
which keeps the values; the parent compares them. In a reference run, where the cells are the
master's own, the sink keeps the expected values and mistakes as well.
"""

from __future__ import annotations

import builtins
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder import marking

from .limits import Limits
from .prepared import MASTERS, Prepared, prepared
from .shell import Shell, refuse_input
from .space import Snapshot, Space, reset_torch


class Cells:
    """A process's one notebook. Its cells are run in the order in which :meth:`run` gets them.

    Args:
        job: what ``Worker`` sends.
        work, temporary: the folders that are its own.
        libraries: what to put back before each check.
    """

    def __init__(
        self, job: dict[str, Any], work: Path, temporary: Path, libraries: Snapshot
    ) -> None:
        os.environ["NBGRADER_EXECUTION"] = "autograde"  # check() does nothing then
        if not job["figures"]:
            os.environ["AUTOGRADER_FIGURES"] = "0"
        os.environ["TMPDIR"] = os.environ["HOME"] = tempfile.tempdir = str(temporary)
        os.chdir(work)
        if job["imports"]:
            sys.path.insert(0, str(work))  # as a kernel does
        builtins.input = refuse_input
        self._job = job
        self._shell = Shell.start()
        self._shell.capture(Limits(**job["limits"]))
        self._space = Space(self._shell.user_ns, libraries)
        self._seeders = _seeders()

    def run(self, cell: dict[str, Any]) -> dict[str, Any]:
        """Run a cell; the report on it."""
        shell, space = self._shell, self._space
        for seed in self._seeders:
            seed(cell["seed"])
        shell.outputs.start()
        values: list[Any] = []
        edited = False
        ready = prepared(cell["id"], cell["source"]) if cell["role"] in MASTERS else None
        if ready is None:
            error = _own(shell, cell["source"])
        elif cell["role"] == "check" and "expect" in ready.reads:
            edited = space.edited()
            if self._job["mended"]:
                space.mend()
            error, values = _check(shell, space, ready, whole=self._job["whole"])
        else:
            error = _given(shell, ready)
        if cell["role"] == "given":
            space.keep()
        return {
            "cell": cell["id"],
            "error": marking.encode(error) if error else None,
            "values": values,
            "outputs": shell.outputs.items,
            "edited": edited,
        }


def _own(shell: Shell, source: str) -> marking.Raised | None:
    """A cell as IPython runs it, magics and all."""
    result = shell.run_cell(source, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    return marking.raised(error) if error else None


def _given(shell: Shell, ready: Prepared) -> marking.Raised | None:
    """A cell of the master that was compiled before; its last expression is displayed."""
    shell.execution_count += 1
    try:
        with shell.display_trap:
            exec(ready.body, shell.user_ns)
            if ready.last is not None:
                exec(ready.last, shell.user_ns)
    except BaseException as error:
        shell.showtraceback()
        return marking.raised(error)
    return None


def _check(
    shell: Shell, space: Space, ready: Prepared, *, whole: bool
) -> tuple[marking.Raised | None, list[Any]]:
    """A check cell. No transformer of the learner's sees it, and no history keeps it."""
    reset_torch()
    values: list[Any] = []
    rebound = space.prepare(ready.reads)
    if rebound is not None:
        return marking.Raised(marking.REBOUND, rebound), values
    shell.user_ns["expect"] = _whole_sink(values) if whole else _sink(values)
    try:
        exec(ready.body, shell.user_ns)
        if ready.last is not None:
            exec(ready.last, shell.user_ns)
    except BaseException as error:
        return marking.raised(error), values
    return None, values


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
        # Frozen before the function under check runs, as in a notebook: it may edit its inputs.
        values.append(
            {
                "what": what,
                "expected": marking.encode(marking.freeze(expected)),
                "mistakes": _encoded(mistakes),
                "accepted": _encoded(accepted),
            }
        )
        values[-1]["actual"] = marking.encode(marking.observe(actual))

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
