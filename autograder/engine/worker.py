"""One warm server and the parent's side of it: the clock, the limits, the second tries."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder import marking
from autograder.course import Plan, PlanCell
from autograder.marking import CellRun, Expectation, Observations

from . import claims, frames, server_process, tiers
from .errors import EngineError, WorkerLost
from .folders import Folders
from .limits import Limits
from .prepared import MASTERS
from .shipped import Files, read_files
from .tiers import Tier

# What lessons import, and what torch and numpy themselves import at first use: the first
# backward() of a process imports sympy, which takes a third of a second.
WARM = (
    "numpy.random",
    "torch",
    "torch.fx.experimental.symbolic_shapes",
    "matplotlib.pyplot",
    "IPython",
    "torch._subclasses.schema_check_mode",
    "autograder.lab.figure",
)
_START_SECONDS = 120.0
_ANSWER_SECONDS = 60.0


class Worker:
    """A warm server that runs one notebook at a time, each in a fresh fork.

    Use as a context manager, or call :meth:`close`. The server starts at once and warms while
    the caller does other things.

    Args:
        limits: what one notebook may take.
        warm: modules to import before the first fork.
        figures: draw the lessons' pictures, which takes longer than everything else.
        tell: is given the number of the cell that runs now, and how many there are.
        tier: how notebooks are confined; the best that works here where it is None.
        brief: few notebooks will run, so nothing is done that pays for itself only later.

    Raises:
        EngineError: root's server could not get at this Python; and from the first run, the server
            could not be started.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        warm: Sequence[str] = WARM,
        *,
        figures: bool = False,
        tell: Callable[[int, int], None] | None = None,
        tier: Tier | None = None,
        brief: bool = False,
    ) -> None:
        self._prepare(limits, warm, figures=figures, tell=tell, tier=tier or tiers.best())
        self._home = None if self.tier == "A" else _new_folder()
        ours, theirs = socket.socketpair()
        with theirs:
            self._server = server_process.start(
                theirs.fileno(), self.tier, self._home, warm, self.limits, brief=brief
            )
        self._socket = ours
        self._ready = False
        self._known: set[tuple[str, str]] = set()  # cells that the server has compiled

    def _prepare(
        self,
        limits: Limits | None,
        warm: Sequence[str],
        *,
        figures: bool,
        tell: Callable[[int, int], None] | None,
        tier: Tier,
    ) -> None:
        self.limits = limits or Limits()
        self.tier = tier
        self._modules = warm
        self._figures = figures
        self._tell = tell

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stop(self) -> None:
        """End the server and the notebook that it runs, from any thread.

        A call that runs in another thread then raises EngineError.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop the server. No other thread may be using it."""
        self.stop()
        self._socket.close()
        server_process.end(self._server)  # no child runs, and tearing torch down takes a while
        self._server.wait()
        if self._server.stderr:
            self._server.stderr.close()
        if self._home is not None:
            Folders(Path(self._home)).remove()

    def reference(
        self, plan: Plan, secret: str, *, files: Path | Files | None = None
    ) -> dict[str, tuple[Expectation, ...]]:
        """Run the master itself; its check cells' expected values, by cell.

        Args:
            files: what lies beside the notebook, which it can read; or the folder with it.

        Raises:
            EngineError: a cell of the master fails; the message names it.
        """
        found: dict[str, tuple[Expectation, ...]] = {}
        reports, stopped = self._once(plan.cells, secret, whole=True, files=files)
        for report in reports:
            if report["error"]:
                raise EngineError(
                    f"{plan.lesson}: cell {report['cell']!r} of the master stopped with "
                    f"{marking.show(report['error'])}"
                )
            found[report["cell"]] = tuple(map(claims.expectation, report["values"]))
        missing = [cell.id for cell in plan.cells if cell.id not in found]
        if missing:
            why = f"cell {missing[0]!r} of the master {stopped}"
            if stopped == "timed out":
                why += (
                    f" after {self.limits.cell_seconds:g} seconds; "
                    "--limit cell_seconds=... gives it more"
                )
            raise EngineError(f"{plan.lesson}: {why}")
        return {cell.id: found[cell.id] for cell in plan.cells if cell.role == "check"}

    def run(
        self,
        plan: Plan,
        secret: str,
        *,
        mended: bool = False,
        files: Path | Files | None = None,
        deadline: float | None = None,
    ) -> Observations:
        """Run a submission's plan.

        With ``mended``, given classes that a learner's code replaced or patched are put back
        before each check. ``files`` as for :meth:`reference`. ``deadline``: when the notebook's
        time is up, of ``time.monotonic()``; after its limit where it is None.

        A cell that loops, exits, crashes or runs out of memory fails alone: the rest is run
        again without it, until all other cells have ended or the notebook's time is up.

        Raises:
            WorkerLost: the server broke. FilesError: ``files`` are more than it may have.
            EngineError: the process can't be confined, or was not started.
        """
        self.wait_ready()
        if deadline is None:
            deadline = time.monotonic() + self.limits.notebook_seconds
        seen: dict[str, CellRun] = {}
        bad: set[str] = set()
        trouble: list[str] = []
        while True:
            cells = [cell for cell in plan.cells if cell.id not in bad]
            reports, stopped = self._once(
                cells, secret, whole=False, mended=mended, deadline=deadline, files=files
            )
            for report in reports:
                run = claims.cell_run(report)
                # What was finished before stays: a rerun only fills in what is missing.
                if report["cell"] not in seen or seen[report["cell"]].ended == "not run":
                    seen[report["cell"]] = run
            if stopped is None:
                break
            failed = cells[len(reports)]
            bad.add(failed.id)
            seen[failed.id] = CellRun(failed.id, stopped)
            trouble.append(f"{failed.called} {stopped}")
            if time.monotonic() >= deadline:
                trouble.append("the notebook's time was up")
                break
        for cell in plan.cells:
            seen.setdefault(cell.id, CellRun(cell.id, "not run"))
        return Observations({cell.id: seen[cell.id] for cell in plan.cells}, tuple(trouble))

    def _once(
        self,
        cells: Sequence[PlanCell],
        secret: str,
        *,
        whole: bool,
        mended: bool = False,
        deadline: float | None = None,
        files: Path | Files | None = None,
    ) -> tuple[list[dict[str, Any]], marking.Ending | None]:
        """One run: the reports of the cells that ended, and how the next one stopped, if any."""
        self.wait_ready()
        job = {
            "cells": [{**asdict(cell), "seed": _seed(secret, cell.id)} for cell in cells],
            "whole": whole,
            "mended": mended,
            "files": _packed(files, self.limits) if files is not None else {},
            "imports": files is not None,
            "figures": self._figures,
            "limits": asdict(self.limits),
        }
        return self._attempt(job, cells, deadline)

    def _attempt(
        self, job: dict[str, Any], cells: Sequence[PlanCell], deadline: float | None
    ) -> tuple[list[dict[str, Any]], marking.Ending | None]:
        """A run in a fork of the server."""
        whole = job["whole"]
        read, write = os.pipe()
        job_read, job_write = os.pipe()
        try:
            self._start([] if whole else cells, write, job_read)
        except BaseException:
            os.close(read)
            os.close(job_write)
            raise
        finally:
            os.close(write)
            os.close(job_read)
        try:
            try:
                frames.send(job_write, job)
            except BrokenPipeError:
                pass  # it ended already, and no frame will come
            finally:
                os.close(job_write)
            self._see_walls(read)
            return self._collect(cells, read, deadline, whole=whole)
        finally:
            os.close(read)
            self._end()

    def _see_walls(self, fd: int) -> None:
        """Wait for the child's first frame, which it sends before any learner code runs."""
        try:
            first = frames.receive(fd, time.monotonic() + _ANSWER_SECONDS)
        except frames.TimeUp as error:
            raise EngineError(
                f"a notebook's process was not confined within {_ANSWER_SECONDS:g} seconds, and "
                "nothing was run: the machine is too busy, or out of memory"
            ) from error
        except (frames.Closed, frames.BadFrame) as error:
            raise EngineError(
                "a notebook's process ended before it was confined, and nothing was run; is the "
                f"memory limit of {self.limits.memory_bytes / 2**30:.2g} GB too small?"
            ) from error
        if "failed" in first:
            why = first["failed"]
            raise EngineError(f"a notebook can't be confined, and nothing was run: {why}")
        if first["possible"]:
            raise EngineError(
                f"a confined process must not succeed in {', '.join(first['possible'])}, but here "
                "it does; nothing was run. `autograder doctor` says more"
            )

    def _collect(
        self, cells: Sequence[PlanCell], fd: int, deadline: float | None, *, whole: bool
    ) -> tuple[list[dict[str, Any]], marking.Ending | None]:
        reports: list[dict[str, Any]] = []
        left = self.limits.outputs_bytes
        for number, cell in enumerate(cells, 1):
            if self._tell and not whole:
                self._tell(number, len(cells))
            until = time.monotonic() + self.limits.cell_seconds
            try:
                report = frames.receive(fd, min(until, deadline) if deadline else until)
                if (
                    reports
                    and isinstance(report, dict)
                    and report.get("cell") == cells[len(reports) - 1].id
                ):
                    reports.pop()  # a second frame of this cell: one of the two was forged
                    return reports, "crashed"
                reports.append(claims.checked(report, cell, whole))
                left = claims.within(reports[-1], left)
            except frames.TimeUp:
                return reports, "timed out"
            except (frames.Closed, frames.BadFrame, marking.BadValue):
                return reports, "crashed"
        return reports, None

    def _start(self, cells: Sequence[PlanCell], write: int, read: int) -> None:
        """Fork a child that sends its frames to ``write`` and takes its job from ``read``.

        The server itself gets the master's cells only, as they go out to learners, to compile
        them once: nothing of a reference is ever in the memory that children inherit.
        """
        new = {(c.id, c.source): c for c in cells if c.role in MASTERS}
        data = frames.packed([asdict(cell) for key, cell in new.items() if key not in self._known])
        self._known |= new.keys()
        try:
            socket.send_fds(self._socket, [data[:4]], [write, read])
            self._socket.sendall(data[4:])
        except OSError as error:
            raise self._broken() from error

    def _end(self) -> None:
        """Have the child killed, and wait until nothing is left of it.

        The server does it: the child's number means something else outside its namespace.
        """
        try:
            self._socket.sendall(b"k")
            # At once, but for a server that a child has stopped or killed (tier C).
            frames.receive(self._socket.fileno(), time.monotonic() + _ANSWER_SECONDS)
        except (frames.Closed, frames.TimeUp, OSError) as error:
            raise self._broken() from error

    def wait_ready(self) -> None:
        """Wait until the server is warm.

        Raises:
            EngineError: it can't be started, or is gone.
        """
        if self._ready:
            return
        try:
            frames.receive(self._socket.fileno(), time.monotonic() + _START_SECONDS)
        except (frames.Closed, frames.TimeUp, OSError) as error:
            raise self._broken() from error
        self._ready = True

    def _broken(self) -> EngineError:
        server_process.end(self._server)
        text = self._server.stderr.read().decode(errors="replace") if self._server.stderr else ""
        last = text.strip().splitlines()[-1:] or ["no message"]
        kind = WorkerLost if self._ready else EngineError
        return kind(f"the engine's warm process ended: {last[0]} (`autograder doctor` tries it)")


def _new_folder() -> str:
    # The kernel's lists of what is open name it without links.
    return str(Path(tempfile.mkdtemp(prefix="autograder-")).resolve())


def _seed(secret: str, cell: str) -> int:
    """A cell's seed: the same in the reference's run and in every submission's."""
    return int.from_bytes(hashlib.sha256(f"{secret}|{cell}".encode()).digest()[:7], "big")


def _packed(files: Path | Files, limits: Limits) -> dict[str, str]:
    """Files as base64, by name."""
    found = read_files(files, limits) if isinstance(files, Path) else files
    return {name: base64.b64encode(data).decode("ascii") for name, data in found.items()}
