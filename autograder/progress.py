"""What a learner has passed, kept beside the notebook: a help for the learner, never a mark.

``check()`` writes it; ``check()`` and ``autograder lab`` read it. The file is called
``.autograder-progress.json`` and holds, for each notebook of its folder::

    {"version": 1, "about": "...", "notebooks": {"add_and_model.ipynb": {
        "lesson": "01_add_and_model",          "" where that isn't known
        "exercises": ["pre_hook", "hook"],     all of the lesson, in order
        "passed": ["pre_hook"],                those that have passed at least once
        "checked": "2026-11-30T08:15:00Z"}}}   when check() ran last, in UTC

Anybody can edit it, delete it or break it: what can't be read counts as "nothing passed yet", and
a file that can't be written is left alone. A newer version's file is neither read nor written.

Standard library only, and no room of the house: reading it must not import torch.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = ".autograder-progress.json"
VERSION = 1
_ABOUT = "What check() has seen pass in this folder. Delete it to start over; no marks are in it."
_MAX_BYTES = 1_000_000
_MAX_NOTEBOOKS = 100


@dataclass(frozen=True)
class Progress:
    """What is remembered of one notebook.

    ``passed`` are the exercises that have passed at least once, in the lesson's order;
    ``checked`` is the time of the last ``check()`` in UTC (ISO 8601, so that later is greater),
    '' where there was none.
    """

    notebook: Path
    lesson: str = ""
    exercises: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    checked: str = ""

    @property
    def finished(self) -> bool:
        """Whether every exercise has passed once."""
        return bool(self.exercises) and set(self.exercises) <= set(self.passed)


def read(notebook: Path) -> Progress:
    """What is remembered of this notebook; an empty :class:`Progress` where nothing is."""
    return _progress(notebook, _notebooks(notebook.parent).get(notebook.name))


def in_folder(folder: Path) -> list[Progress]:
    """What is remembered of a folder's notebooks that are still there, the last checked first."""
    found = [
        _progress(folder / name, entry)
        for name, entry in _notebooks(folder).items()
        if _text(name) == Path(name).name
    ]
    there = [progress for progress in found if progress.checked and progress.notebook.is_file()]
    return sorted(there, key=lambda progress: progress.checked, reverse=True)


def remember(notebook: Path, lesson: str, passes: Mapping[str, bool]) -> Progress:
    """Add the results of a check; what passed before stays passed.

    Args:
        notebook: the notebook that was checked; the file is kept in its folder.
        lesson: the lesson's name, '' where it isn't known.
        passes: for every exercise in order, whether it passes now.

    Returns:
        What is remembered from now on, also where it could not be written.
    """
    before = set(read(notebook).passed)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = tuple(name for name, passed in passes.items() if passed or name in before)
    progress = Progress(notebook, lesson, tuple(passes), kept, now)
    with contextlib.suppress(OSError):
        _write(progress)
    return progress


def _progress(notebook: Path, entry: object) -> Progress:
    entry = entry if isinstance(entry, dict) else {}
    return Progress(
        notebook,
        _text(entry.get("lesson")),
        _names(entry.get("exercises")),
        _names(entry.get("passed")),
        _text(entry.get("checked")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() else ""


def _names(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, value))) if isinstance(value, list) else ()


def _content(folder: Path) -> dict[str, Any]:
    """The file as JSON; an empty one where there is none, or none that can be used."""
    path = folder / FILE
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return {}
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _notebooks(folder: Path) -> dict[str, Any]:
    content = _content(folder)
    found = content.get("notebooks")
    return found if content.get("version") == VERSION and isinstance(found, dict) else {}


def _write(progress: Progress) -> None:
    folder = progress.notebook.parent
    version = _content(folder).get("version")
    if isinstance(version, int) and version > VERSION:
        return
    others = [p for p in in_folder(folder) if p.notebook.name != progress.notebook.name]
    notebooks = {
        p.notebook.name: {
            "lesson": p.lesson,
            "exercises": p.exercises,
            "passed": p.passed,
            "checked": p.checked,
        }
        for p in [progress, *others][:_MAX_NOTEBOOKS]
    }
    text = json.dumps({"version": VERSION, "about": _ABOUT, "notebooks": notebooks}, indent=1)
    # Whole or not at all: written beside it, then put in its place.
    half = folder / f"{FILE}.{os.getpid()}"
    try:
        half.write_text(text + "\n", "utf-8")
        half.replace(folder / FILE)
    finally:
        half.unlink(missing_ok=True)
