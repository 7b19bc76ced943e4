"""What the tests of grading share: the example class, what it earns, and courses made of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path

import pytest
import warm_workers
from filelock import FileLock
from nbgrader.api import Gradebook, SubmittedAssignment

from autograder.cli import main
from autograder.desk import pool
from autograder.engine import Limits, Tier

ROOT = Path(__file__).resolve().parent.parent
CLASS = ROOT / "examples" / "class" / "submitted"
LESSON, NAME = "01_add_and_model", "add_and_model"
IDS = ["pre_hook", "output_hook", "hook", "module_hook", "normalise_hook", "tensor_hook"]
POINTS = dict(zip(IDS, [4.0, 4.0, 4.0, 6.0, 6.0, 6.0], strict=True))

# Student: status, and the exercises that are right.
EXPECTED = {
    "ada": ("graded", IDS),
    "bo": ("graded", IDS),
    "chen": ("graded", ["pre_hook", "output_hook", "hook"]),
    "dara": ("graded", ["output_hook"]),
    "eli": ("graded", [name for name in IDS if name != "module_hook"]),
    "fay": ("graded", [name for name in IDS if name != "hook"]),
    "gus": ("unreadable", []),
    "hana": ("graded", IDS),
    "ivo": ("graded", ["pre_hook", "tensor_hook"]),
    "jun": ("graded", ["hook", "tensor_hook"]),
    "kim": ("graded", IDS),
    "lea": ("graded", []),
    "max": ("missing", []),
    "noor": ("graded", ["pre_hook", "output_hook", "module_hook", "tensor_hook"]),
}


def make_course(folder: Path, students: list[str]) -> Path:
    """A course folder with masters, nbgrader's settings and some of the example class."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for student in students:
        shutil.copytree(CLASS / student, folder / "submitted" / student)
    return folder


def run(
    folder: Path, *arguments: str | Path, limits: Limits | None = None, tier: Tier | None = None
) -> int:
    """The exit code of ``autograder grade``, run in this process."""
    more = [f"--limit={name}={value}" for name, value in vars(limits).items()] if limits else []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(pool.Setup, "__init__", partialmethod(pool.Setup.__init__, tier=tier))
        patch.setattr(pool, "start_worker", warm_workers.start)
        return main(["grade", *more, *map(str, arguments)])


@contextmanager
def gradebook(folder: Path) -> Iterator[Gradebook]:
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "pytorch_hooks") as book:
        yield book


def marks(folder: Path) -> dict[str, dict[str, float | None]]:
    """The autograder's marks in the gradebook, by student and check cell."""
    with gradebook(folder) as book:
        return {
            submission.student.id: {g.name: g.auto_score for g in submission.notebooks[0].grades}
            for submission in book.db.query(SubmittedAssignment)
        }


def wanted(student: str) -> dict[str, float]:
    return {name: POINTS[name] if name in EXPECTED[student][1] else 0.0 for name in IDS}


def graded_class(factory: pytest.TempPathFactory) -> Path:
    """The example class, graded once for all tests (and all of xdist's workers): don't write."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "graded"
    with FileLock(base / "graded.lock"), pytest.MonkeyPatch.context() as patch:
        if not (folder / "rc").exists():
            make_course(folder, list(EXPECTED))
            patch.setenv("PATH", "/usr/bin:/bin")  # as when the venv is not activated
            # A second is ages for these cells, but not on a busy machine.
            code = run(folder, "--json", "out.json", limits=Limits(cell_seconds=8))
            (folder / "rc").write_text(str(code))
    return folder
