"""What this kernel has run, how that ended, and what the notebook's file holds."""

from __future__ import annotations

import json
import os
import re
import symtable
import time
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython import get_ipython

_DEFINES = re.compile(r"^(?:async +def|def|class) +(\w+)|^(\w+) *=(?!=)", re.M)
_FUNCTION = r"(?:(?:async +def|def|class) +(\w+)|(\w+) *= *lambda\b)"
_FUNCTIONS = re.compile("^" + _FUNCTION, re.M)
_INDENTED = re.compile(r"^[ \t]+" + _FUNCTION, re.M)


@dataclass(frozen=True)
class Ran:
    """The text of a cell when it ran last, and when that was (seconds since 1970)."""

    text: str
    at: float


@dataclass(frozen=True)
class Stopped:
    """A cell that did not make functions that it should, or made before.

    Attributes:
        error: what ended it before; None where the functions are not in it any more.
        old: what their names stood for then; `_NOTHING` where they stood for nothing.
    """

    error: BaseException | None
    old: Mapping[str, object]


_NOTHING = object()

_ran: dict[str, Ran] = {}
_stopped: dict[str, Stopped] = {}
_made: dict[str, Mapping[str, object]] = {}  # the functions that a cell made when it ran last
_running = ""
_before: Mapping[str, object] = {}


def watch() -> None:
    """From now on, remember what runs in this kernel. Outside of IPython it does nothing."""
    shell = get_ipython()
    if shell is not None:
        shell.events.register("pre_run_cell", _note)
        shell.events.register("post_run_cell", _note_end)


def _note(info: Any) -> None:
    global _running, _before
    _running = info.raw_cell
    earlier = _stopped.pop(_key(info), None)
    names = _functions(info.raw_cell) | set(earlier.old if earlier else ())
    if info.cell_id in _ran:
        # The line that names the function may be the one that is broken now.
        names |= _functions(_ran[info.cell_id].text)
    _before = _now(names)
    # Front ends that tell no cell's id can't be helped here.
    if info.cell_id:
        _ran[info.cell_id] = Ran(info.raw_cell, time.time())


def _note_end(result: Any) -> None:
    if result.info is None:
        return
    error = result.error_before_exec or result.error_in_exec
    before = dict(_before)
    if result.error_before_exec and (exercise := _exercise_of(result.info.cell_id)):
        before |= _now({exercise})
    key, now = _key(result.info), _now(before)
    old = {name: value for name, value in before.items() if now[name] is value}
    if error is None:
        # Only what this very cell made: a function may have moved to another one.
        mine = _made.get(key, {})
        gone = mine.keys() - _functions(_running)
        old = {name: value for name, value in old.items() if name in gone and value is mine[name]}
    if old:
        _stopped[key] = Stopped(error, old)
    made = {name: value for name, value in now.items() if value is not before[name]}
    _made[key] = {**_made.get(key, {}), **made}


def _key(info: Any) -> str:
    """Says which cell it is; where the front end tells no id, by the functions in it."""
    return info.cell_id or " ".join(sorted(_functions(info.raw_cell)))


def _now(names: Collection[str]) -> dict[str, object]:
    space = getattr(get_ipython(), "user_ns", {})
    return {name: space.get(name, _NOTHING) for name in names}


def _functions(text: str) -> set[str]:
    """The functions and classes that a cell makes, also one that is no Python."""
    found = list(_FUNCTIONS.finditer(text)) or _INDENTED.finditer(text)
    return {one[1] or one[2] for one in found}


def not_made(names: Collection[str]) -> tuple[str, BaseException | None] | None:
    """One of these functions that its cell did not make when it ran last, and what ended it.

    There is no such function then, or it is not the one that the learner reads. The error is None
    where the cell came to its end without making it. None for no such function.
    """
    for stopped in _stopped.values():
        mine = {name: value for name, value in stopped.old.items() if name in names}
        now = _now(mine)
        for name, value in mine.items():
            if now[name] is value:
                return name, stopped.error
    return None


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
    if exercise := _exercise(cell):
        return f"`{exercise}`"
    first = (text.strip().splitlines() or [""])[0]
    return f"“{first[:40]}{'…' if len(first) > 40 else ''}”"


def _exercise(cell: dict[str, Any]) -> str:
    """The exercise that a cell is the answer of; '' where it is none."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = str(nbgrader.get("grade_id", "")) if isinstance(nbgrader, dict) else ""
    return name.removesuffix("_answer") if name.endswith("_answer") else ""


def _exercise_of(cell_id: str | None) -> str:
    path = notebook()
    cells = _code_cells(path) if path and cell_id else []
    return next((_exercise(cell) for cell in cells if cell.get("id") == cell_id), "")


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the cell itself has shown them
            symbols = symtable.symtable(text, "cell", "exec").get_symbols()
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a %magic, or no Python yet
        return {found[1] or found[2] for found in _DEFINES.finditer(text)}
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}
