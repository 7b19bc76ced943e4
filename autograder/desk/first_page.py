"""The page that JupyterLab opens on: ``notebooks/README.md``, made from ``solutions/README.md``."""

from __future__ import annotations

import re

from autograder.course import Course, Master

from .open_lab import FIRST_PAGE as PATH

_LESSONS = "<!-- lessons -->"


def make(course: Course) -> bytes | None:
    """The page, with a table of the course's lessons; None where the course has none."""
    text = course.solutions / "README.md"
    if not text.is_file():
        return None
    rows = ["| | lesson | exercises | points | time |", "|---|---|---|---|---|"]
    rows += [_row(number, master) for number, master in enumerate(course.masters(), 1)]
    return text.read_text("utf-8").replace(_LESSONS, "\n".join(rows)).encode()


def _row(number: int, master: Master) -> str:
    prose = "\n".join(cell.source for cell in master.cells if cell.kind == "prose")
    title = re.search(r"^# (.+)", prose, re.M)
    time = re.search(r"\d+ to \d+ minutes", prose)
    name = title[1] if title else master.lesson
    return (
        f"| {number} | [{name}]({master.lesson}/{master.path.name}) "
        f"| {len(master.exercises)} | {master.max_score:g} | {time[0] if time else ''} |"
    )


def is_up_to_date(course: Course, page: bytes) -> bool:
    """Whether the page on disk is ``page``."""
    path = course.root / PATH
    return path.is_file() and path.read_bytes() == page


def write(course: Course, page: bytes) -> None:
    """Put the page on disk."""
    path = course.root / PATH
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(page)
