"""Finds what was handed in: ``COURSE/submitted/STUDENT/LESSON/*.ipynb``, nbgrader's layout.

Everything in there may have been made by anybody. Links are not followed, and a name counts for
nothing: a notebook is known by its cells.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder import course
from autograder.course import Cell, Master, NotebookError

Status = Literal["found", "missing", "unreadable", "other lesson"]


@dataclass(frozen=True)
class Submission:
    """A place where a student's work on a lesson should be. ``folder`` may not exist."""

    student: str
    lesson: str
    folder: Path


@dataclass(frozen=True)
class Found:
    """What was in that place: the notebook's cells, or the reason in words why there are none."""

    status: Status
    reason: str = ""
    notebook: Path | None = None
    cells: tuple[Cell, ...] = ()


def lessons_in(submitted: Path) -> list[str]:
    """Names of all folders below students' folders, sorted."""
    return sorted({lesson.name for student in _folders(submitted) for lesson in _folders(student)})


def submissions_of(submitted: Path, lesson: str) -> list[Submission]:
    """One submission for each student's folder, sorted by student."""
    return [Submission(path.name, lesson, path / lesson) for path in _folders(submitted)]


def misplaced(submitted: Path, lessons: Sequence[str]) -> list[str]:
    """What lies where nobody looks for it, in words: other folders, and notebooks outside of any.

    Args:
        lessons: the names of the course's lessons.
    """
    found = [f"{path.name} is in no student's folder" for path in _notebooks(submitted)]
    for student in _folders(submitted):
        found += [f"{student.name}/{p.name} is in no lesson's folder" for p in _notebooks(student)]
        for folder in _folders(student):
            if folder.name not in lessons:
                found.append(f"{student.name}/{folder.name} is no lesson's folder")
    return found


def _notebooks(folder: Path) -> list[Path]:
    return sorted(p for p in _entries(folder) if p.suffix == ".ipynb" and p.is_file())


def _folders(path: Path) -> list[Path]:
    return sorted(p for p in _entries(path) if not p.name.startswith(".") and _is_folder(p))


def _entries(path: Path) -> list[Path]:
    """What is in a folder; nothing where it can't be opened, which grading it will tell."""
    try:
        return list(path.iterdir())
    except PermissionError:
        return []


def _is_folder(path: Path) -> bool:
    # A link that a student put there must not lead out of the submissions.
    return path.is_dir() and not path.is_symlink()


def find(submission: Submission, master: Master, masters: Sequence[Master]) -> Found:
    """Look for the notebook of ``master`` in a submission.

    Of several notebooks the newest one counts that is recognised as this lesson.

    Args:
        masters: all lessons, to tell a notebook of another one.

    Raises:
        OSError: this account may not read what is there, or the disk fails.
    """
    folder = submission.folder
    if folder.is_symlink():
        return Found("unreadable", f"{folder.name} is a link, and links are not followed")
    if not folder.is_dir():
        return Found("missing", f"there is no folder {folder.name}")
    paths = _newest_first(folder)
    if not paths:
        return Found("missing", "there is no notebook (.ipynb) in the folder")
    other: Found | None = None
    for path in paths:
        found = _look(path, master, masters)
        if found.status == "found":
            return found
        # That a notebook of another lesson is there says more than that a file can't be read.
        if other is None or (other.status, found.status) == ("unreadable", "other lesson"):
            other = found
    assert other is not None
    return other


def _newest_first(folder: Path) -> list[Path]:
    paths = [p for p in folder.iterdir() if p.suffix == ".ipynb" and not p.name.startswith(".")]
    # Equal times, as after unpacking, are settled by the name.
    return sorted(paths, key=lambda path: (-path.lstat().st_mtime_ns, path.name))


def _look(path: Path, master: Master, masters: Sequence[Master]) -> Found:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return Found("unreadable", f"{path.name} is no plain file", path)
        cells = course.read_cells(path)
    except NotebookError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from error  # the grader's trouble: it must not cost a mark
        return Found("unreadable", f"{path.name}: {error}", path)
    # Of lessons that fit as well, the one whose folder it is in.
    recognised = course.recognise(cells, [master, *masters])
    if recognised is None:
        return Found("other lesson", f"{path.name} holds nothing of this lesson", path)
    if recognised.lesson != master.lesson:
        return Found("other lesson", f"{path.name} is a notebook of {recognised.lesson}", path)
    return Found("found", "", path, tuple(cells))


@dataclass(frozen=True)
class Stamp:
    """When a submission was handed in, as nbgrader's ``timestamp.txt`` says it.

    Attributes:
        text: what stands in the file.
        unread: why it was not read, where it is there.
    """

    text: str = ""
    unread: str = ""

    @functools.cached_property
    def time(self) -> datetime.datetime | None:
        """The time in UTC; None where the text is none."""
        from nbgrader.utils import parse_utc  # slow to import, and only needed while recording

        with contextlib.suppress(ValueError, OverflowError):
            return parse_utc(self.text) if self.text else None
        return None

    @property
    def trouble(self) -> str:
        """What a grader should know."""
        if self.text and self.time is None:
            return "timestamp.txt can't be read as a time, so none was noted"
        return self.unread


def read_stamp(folder: Path) -> Stamp:
    """Read ``timestamp.txt`` where there is one."""
    path = folder / "timestamp.txt"
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return Stamp(unread="timestamp.txt is no plain file, so no time was noted")
        with path.open(encoding="utf-8", errors="replace") as file:
            return Stamp(file.read(200).strip())
    except (FileNotFoundError, NotADirectoryError):
        return Stamp()
    except OSError as error:
        return Stamp(unread=f"timestamp.txt can't be read ({error.strerror})")
