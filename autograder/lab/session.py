"""What this kernel has run, and what the notebook's file holds."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython import get_ipython

_DEFINES = re.compile(r"^(?:async +def|def|class) +(\w+)|^(\w+) *=(?!=)", re.M)


@dataclass(frozen=True)
class Ran:
    """The text of a cell when it ran last, and when that was (seconds since 1970)."""

    text: str
    at: float


_ran: dict[str, Ran] = {}
_running = ""


def watch() -> None:
    """From now on, remember what runs in this kernel. Outside of IPython it does nothing."""
    shell = get_ipython()
    if shell is not None:
        shell.events.register("pre_run_cell", _note)


def _note(info: Any) -> None:
    global _running
    _running = info.raw_cell
    # Front ends that tell no cell's id can't be helped here.
    if info.cell_id:
        _ran[info.cell_id] = Ran(info.raw_cell, time.time())


def notebook() -> Path | None:
    """The notebook that this kernel belongs to, as far as that can be known."""
    # Jupyter's server tells the kernel whose it is; other front ends don't.
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if path.suffix == ".ipynb" and path.is_file():
        return path
    found = list(Path.cwd().glob("*.ipynb"))
    return found[0] if len(found) == 1 else None


def unsaved(path: Path) -> list[str]:
    """Cells that ran with another text after the file was written.

    Returns:
        For each the function that it is about, as "`pre_hook`", or else its first line.
    """
    try:
        written = path.stat().st_mtime
    except OSError:
        return []
    found = []
    for cell in _code_cells(path):
        ran = _ran.get(str(cell.get("id")))
        text = _source(cell)
        if ran and ran.at > written and ran.text.strip() != text.strip():
            found.append(_called(cell, ran.text))
    return found


def _called(cell: dict[str, Any], text: str) -> str:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = str(nbgrader.get("grade_id", "")) if isinstance(nbgrader, dict) else ""
    if name.endswith("_answer"):
        return f"`{name.removesuffix('_answer')}`"
    first = (text.strip().splitlines() or [""])[0]
    return f"“{first[:40]}{'…' if len(first) > 40 else ''}”"


def _code_cells(path: Path) -> list[dict[str, Any]]:
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return [cell for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def made_elsewhere() -> set[str]:
    """Names that other cells of this notebook's file define at their top level."""
    path = notebook()
    texts = map(_source, _code_cells(path)) if path else ()
    return {name for text in texts for name in _defines(text)} - _defines(_running)


def _defines(text: str) -> set[str]:
    return {found[1] or found[2] for found in _DEFINES.finditer(text)}
