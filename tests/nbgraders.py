"""nbgrader as an instructor uses it: its command, and what its pages call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from classroom import LESSON, NAME, gradebook
from nbgrader.api import Grade
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from autograder.desk.source import Settings

ROOT = Path(__file__).resolve().parent.parent
STALE = 99.0  # a mark that nothing gives


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run nbgrader in a course's folder; both of its streams are in ``stdout``."""
    venv = str(Path(sys.executable).parent)
    return subprocess.run(
        [f"{venv}/nbgrader", *arguments],
        cwd=folder,
        env=os.environ | {"PATH": os.pathsep.join([venv, os.environ["PATH"]])},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def autograde(folder: Path, lesson: str = LESSON) -> None:
    """What ``nbgrader autograde LESSON`` does, in this process.

    Raises:
        NbGraderException: not everybody could be graded.
    """
    settings = Settings.of(folder)
    coursedir = CourseDirectory(config=settings.config, assignment_id=lesson)
    Autograde(coursedir=coursedir, config=settings.config).start()


def pages(folder: Path) -> NbGraderAPI:
    """What formgrader's pages call."""
    settings = Settings.of(folder)
    return NbGraderAPI(CourseDirectory(config=settings.config), config=settings.config)


def readme_lines() -> list[str]:
    """The lines that README gives to other courses."""
    text = (ROOT / "README.md").read_text("utf-8").partition("these five lines")[2]
    indented = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    return indented[:5]


def ungraded(graded: Path, folder: Path, students: Iterable[str]) -> Path:
    """The graded class as it was handed in, with stale marks in its gradebook."""
    students = set(students)
    shutil.copytree(graded, folder, ignore=shutil.ignore_patterns("autograded", ".autograder"))
    for path in (folder / "submitted").iterdir():
        if path.name not in students:
            shutil.rmtree(path)
    # A second is ages for these cells, but not on a busy machine.
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write("\nc.AutograderLimits.cell_seconds = 8\n")
    with gradebook(folder) as book:
        book.db.query(Grade).update({Grade.auto_score: STALE})
        book.db.commit()
    return folder


def executed(folder: Path, student: str, lesson: str = LESSON, name: str = NAME) -> list[Any]:
    """The cells of a graded notebook."""
    path = folder / "autograded" / student / lesson / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    return list(notebook.cells)


def named(cells: list[Any]) -> dict[str, Any]:
    """Cells by their grade_id."""
    return {c.metadata.nbgrader.grade_id: c for c in cells if "nbgrader" in c.metadata}
