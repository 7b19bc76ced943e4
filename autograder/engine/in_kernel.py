"""What a kernel of :mod:`autograder.engine.unforked` runs: a cell at a time, with its report."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from .cells import Cells
from .shell import Shell
from .space import snapshot

REPORT = "application/vnd.autograder+json"
_JOB = "job"
_cells: Cells | None = None
_job: dict[str, Any] = {}


class Report:
    """Is displayed as what the parent reads."""

    def __init__(self, content: object) -> None:
        self._content = content

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {REPORT: json.dumps(self._content, default=str)}


def start(folder: str) -> Report:
    """Take the job that lies in a folder, and make ready for its first cell."""
    global _cells, _job
    path = Path(folder, _JOB)
    _job = json.loads(path.read_text("utf-8"))
    path.unlink()
    for name in _job["modules"]:
        importlib.import_module(name)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    # The kernel keeps the shell that it has; cells run in ours, as they do everywhere else.
    kernels = InteractiveShell.instance()
    type(kernels).clear_instance()
    _cells = Cells(_job, Path(folder, "work"), Path(folder, "tmp"), snapshot())
    Shell.instance().loop_runner = _await
    return Report({"ready": True})


def run(number: int) -> Report:
    """Run a cell of the job."""
    assert _cells is not None
    return Report(_cells.run(_job["cells"][number]))


def _await(work: Coroutine[Any, Any, Any]) -> Any:
    """Top-level await: the kernel's own loop runs already, so it gets another thread's."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work)))
    thread.start()
    thread.join()
    return found[0]
