"""Runs ``autograder check`` for a notebook's ``check()``: its result, how far it is, its end."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PROGRESS = "progress: "
_NOTE = "note: "  # for people at a terminal; never why there is no result
_RESULTS = (0, 1, 3)  # exit codes with a result
_SECONDS_TO_END = 3.0


class CheckError(RuntimeError):
    """The checks could not be run. Shown as its message only."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def run(path: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """What ``autograder check --json`` says of a notebook.

    Args:
        path: the notebook.
        tell: is given how far it is, in words.

    Raises:
        CheckError: it could not be checked, or somebody interrupted it; the message says so.
            No process is left.
    """
    command = [sys.executable, "-m", "autograder", "check", str(path), "--json", "--progress"]
    said = ""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        try:
            assert process.stderr
            for line in process.stderr:
                if line.startswith(_PROGRESS):
                    tell(line.removeprefix(_PROGRESS).strip())
                elif line.strip() and not line.startswith(_NOTE):
                    said = line.strip()  # of a traceback, the last line says it
            code = process.wait()
        except KeyboardInterrupt:
            raise CheckError("Stopped. Run this cell again whenever you like.") from None
        finally:
            _end(process)
        if code not in _RESULTS:
            raise CheckError(said or f"autograder check ended with {code}")
        out.seek(0)
        result: dict[str, Any] = json.load(out)
        return result


def _end(process: subprocess.Popen[str]) -> None:
    """See to it that the process is gone."""

    def wait() -> None:
        """An interrupt in Jupyter has reached the process too: it ends by itself."""

    for stop in (wait, process.terminate, process.kill):
        stop()
        try:
            process.wait(_SECONDS_TO_END)
            break
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
    if process.stderr:
        process.stderr.close()
