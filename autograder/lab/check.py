"""``check()``: all checks of the saved notebook, hidden ones included, from within it."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from IPython.display import display


class CheckError(RuntimeError):
    """The checks could not be run. Shown as its message only."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def check(notebook: str | Path | None = None) -> None:
    """Run ``autograder check`` on the saved notebook and show a line for each exercise.

    Args:
        notebook: the file; by default the notebook that this kernel belongs to. The file on
            disk counts, so save first.

    Raises:
        CheckError: there is no such notebook, or it can't be checked; the message says why.
    """
    if "NBGRADER_EXECUTION" in os.environ:  # set by nbgrader, and by the engine
        print("While a notebook is graded or validated, check() does nothing.")
        return
    path = Path(notebook) if notebook else _this_notebook()
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "check", str(path), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        last = done.stderr.strip().splitlines()[-1:]  # of a traceback, the line that says it
        raise CheckError(*last or [f"autograder check ended with {done.returncode}"])
    result = json.loads(done.stdout)
    display(_Table(result))


def _this_notebook() -> Path:
    # Jupyter's server tells the kernel whose it is; other front ends don't.
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if path.suffix == ".ipynb" and path.is_file():
        return path
    found = sorted(Path.cwd().glob("*.ipynb"))
    if len(found) != 1:
        raise CheckError(
            f"There are {len(found)} notebooks in this folder: write check('NAME.ipynb') in a "
            "new cell."
        )
    return found[0]


class _Table:
    """The result as a table, and as plain text where HTML isn't shown."""

    def __init__(self, result: dict[str, Any]) -> None:
        self._result = result

    def __repr__(self) -> str:
        lines = [
            f"{'✓' if row['verdict'] == 'passed' else '✗'} {row['id']}: "
            f"{row['points']:g} of {row['max_points']:g}"
            + (f". {row['message']}" if row["message"] else "")
            for row in self._result["exercises"]
        ]
        return "\n".join([*lines, self._total()])

    def _total(self) -> str:
        return f"{self._result['score']:g} of {self._result['max_score']:g} points"

    def _repr_html_(self) -> str:
        style = "text-align:left;vertical-align:top;padding:.25em .7em"
        short, long = f'style="{style};white-space:nowrap"', f'style="{style}"'
        rows = "".join(
            f"<tr><td {short}>{'✓ passed' if row['verdict'] == 'passed' else row['verdict']}</td>"
            f"<td {short}><code>{html.escape(row['id'])}</code></td>"
            f"<td {short}>{row['points']:g} / {row['max_points']:g}</td>"
            f"<td {long}>{html.escape(row['message'])}</td></tr>"
            for row in self._result["exercises"]
        )
        return f"<table>{rows}</table><p><b>{self._total()}</b></p>"
