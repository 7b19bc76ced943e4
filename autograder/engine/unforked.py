"""A worker for systems where nothing can be forked and confined: a kernel for each run.

It gives the same reports as the warm server, from the same code, only slowly; and there are time
limits only. It is no sandbox.
"""

from __future__ import annotations

import base64
import json
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from autograder import marking
from autograder.course import PlanCell
from autograder.marking import BadValue

from . import claims, frames
from .errors import EngineError
from .folders import Folders
from .in_kernel import REPORT
from .kernel import running
from .limits import Limits
from .worker import WARM, Worker

_START_SECONDS = 120.0
_CODE = str(Path(__file__).resolve().parents[2])  # the kernel runs this package, and no other
_START = "from autograder.engine import in_kernel as _autograder\n_autograder.start({!r})"
_RUN = "__import__('autograder.engine.in_kernel').engine.in_kernel.run({})"


class Unforked(Worker):
    """As :class:`Worker`; tier D. Of the limits, those of time and of output hold."""

    def __init__(
        self,
        limits: Limits | None = None,
        warm: Sequence[str] = WARM,
        *,
        figures: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self._prepare(limits, warm, figures=figures, tell=tell, tier="D")
        self._stopped = threading.Event()

    def stop(self) -> None:
        """As :meth:`Worker.stop`; the cell that runs is still waited for."""
        self._stopped.set()

    def close(self) -> None:
        """As :meth:`Worker.close`."""
        self.stop()

    def wait_ready(self) -> None:
        """As :meth:`Worker.wait_ready`; nothing is kept warm."""
        if self._stopped.is_set():
            raise EngineError("the engine was stopped")

    def _attempt(
        self, job: dict[str, Any], cells: Sequence[PlanCell], deadline: float | None
    ) -> tuple[list[dict[str, Any]], marking.Ending | None]:
        home = Path(tempfile.mkdtemp(prefix="autograder-"))
        try:
            for name in ("work", "tmp"):
                (home / name).mkdir()
            for name, text in job.pop("files").items():
                path = home / "work" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(base64.b64decode(text))
                path.chmod(0o444)
            text = json.dumps({**job, "modules": self._modules})
            (home / "job").write_text(text, "utf-8")
            return self._in_kernel(home, cells, deadline, whole=job["whole"])
        finally:
            Folders(home).remove()

    def _in_kernel(
        self, home: Path, cells: Sequence[PlanCell], deadline: float | None, *, whole: bool
    ) -> tuple[list[dict[str, Any]], marking.Ending | None]:
        lines = [_START.format(str(home)), *(_RUN.format(n) for n in range(len(cells)))]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in lines])
        until = time.monotonic() + _START_SECONDS

        def seconds(_: Any) -> float:
            return max(0.1, until - time.monotonic())

        reports: list[dict[str, Any]] = []
        left = self.limits.outputs_bytes
        with running(
            notebook, home / "work", seconds, {"MPLBACKEND": "agg", "PYTHONPATH": _CODE}
        ) as client:
            try:
                client.execute_cell(notebook.cells[0], 0)
            except (CellTimeoutError, DeadKernelError) as error:
                raise EngineError(f"a notebook's kernel did not start: {error}") from error
            if _report(notebook.cells[0]) != {"ready": True}:
                shown = [out.get("evalue") for out in notebook.cells[0].outputs]
                raise EngineError(f"a notebook's kernel did not start: {shown}")
            for number, cell in enumerate(cells, 1):
                self.wait_ready()
                if self._tell and not whole:
                    self._tell(number, len(cells))
                until = time.monotonic() + self.limits.cell_seconds
                until = min(until, deadline) if deadline else until
                try:
                    client.execute_cell(notebook.cells[number], number)
                    reports.append(claims.checked(_report(notebook.cells[number]), cell, whole))
                    left = claims.within(reports[-1], left)
                except CellTimeoutError:
                    return reports, "timed out"
                except (DeadKernelError, BadValue, ValueError):
                    return reports, "crashed"
        return reports, None


def _report(cell: Any) -> Any:
    """What a kernel says of a cell.

    Raises:
        ValueError: nothing, or nothing that can be read.
    """
    texts = [out.data[REPORT] for out in cell.outputs if REPORT in out.get("data", {})]
    if len(texts) != 1:
        raise ValueError("not one report")
    return frames.parsed(str(texts[0]).encode())
