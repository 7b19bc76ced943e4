"""Masters: the notebooks in ``solutions/`` that everything else is made from."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["prose", "given", "answer", "check"]

STUB = "raise Todo  # replace this line with your code"
ANSWER_SUFFIX = "_answer"

_SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION[ \t]*\n(.*?)^[ \t]*### END SOLUTION[ \t]*$", re.M | re.S
)
_HIDDEN = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS[ \t]*\n(.*?)^[ \t]*### END HIDDEN TESTS[ \t]*(\n|\Z)",
    re.M | re.S,
)


class CourseError(ValueError):
    """A course or master that can't be used. The message names the file, the cell, what to do."""


@dataclass(frozen=True)
class MasterCell:
    """A cell of a master. Where a code cell has no grade_id, its number stands in for one.

    Attributes:
        stub: an answer as learners get it, where another tool makes the release; None where
            the solution marks tell.
    """

    kind: Kind
    source: str
    grade_id: str = ""
    points: float = 0
    tags: tuple[str, ...] = ()
    is_code: bool = True
    locked: bool = False
    stub: str | None = None

    @property
    def release(self) -> str:
        """The source as learners get it: without solution and hidden tests."""
        if self.stub is not None:
            return self.stub
        if self.kind == "answer" and self.is_code:
            release, marks = _SOLUTION.subn(lambda found: found.group(1) + STUB, self.source)
            return release if marks else STUB  # as nbgrader: without marks, all is the solution
        if self.kind == "check":
            return _HIDDEN.sub("", self.source).rstrip("\n")
        return self.source

    @property
    def solution(self) -> str:
        """What stands between the solution marks; '' where there are none."""
        found = _SOLUTION.search(self.source)
        return found.group(2) if found else ""


@dataclass(frozen=True)
class Exercise:
    """One check cell with its answer cell.

    In this project's lessons the id is the name of the function that the learner writes; other
    courses name their cells as they like, so that no answer cell may be known.
    """

    id: str
    points: float
    check: MasterCell
    answer: MasterCell | None


@dataclass(frozen=True)
class Master:
    """A lesson: the folder's name, the notebook's name without suffix, the cells."""

    lesson: str
    name: str
    path: Path
    cells: tuple[MasterCell, ...]

    @property
    def sentences(self) -> Path:
        """The lesson's table of sentences, which may be missing."""
        return self.path.parent / "mistakes.toml"

    @functools.cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises in order. A text cell with points is for people to mark, and is none."""
        answers = {cell.grade_id: cell for cell in self.cells if cell.kind == "answer"}
        return tuple(
            Exercise(cell.grade_id, cell.points, cell, answers.get(cell.grade_id + ANSWER_SUFFIX))
            for cell in self.cells
            if cell.kind == "check" and cell.is_code
        )

    @property
    def max_score(self) -> float:
        """Points of all exercises."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def hand_points(self) -> float:
        """Points of the cells that people mark: written answers, and tasks."""
        return sum(cell.points for cell in self.cells) - self.max_score


OWN = Path(__file__).resolve().parents[2]
"""The course that this package stands in, where it is a clone's."""

# In these, learners choose what lies where: what looks like a course in there is none.
_OTHERS = {"submitted", "autograded", "feedback", "downloaded"}


def folders_around(place: Path) -> list[Path]:
    """A folder and all above it, nearest first, but for what is handed in and what comes of it."""
    folders = [place, *place.parents]
    handed_in = [number for number, folder in enumerate(folders, 1) if folder.name in _OTHERS]
    return folders[max(handed_in, default=0) :]


class Course:
    """A course folder with ``solutions/LESSON/NAME.ipynb``.

    Args:
        root: the folder.
        source: the folder with the masters, from ``root``; other courses call it otherwise.

    Raises:
        CourseError: there are no masters in it.
    """

    def __init__(self, root: Path, source: str | Path = "solutions") -> None:
        self.root = root
        self.solutions = root / source
        if not self.solutions.is_dir():
            raise CourseError(
                f"{root}: no folder `{source}` with masters here; name the course with --course"
            )

    @classmethod
    def around(cls, *places: Path) -> Course:
        """The course that one of ``places`` lies in, or the one this package stands in."""
        for place in (*places, OWN):
            for folder in folders_around(place):
                if (folder / "solutions").is_dir() and (found := cls(folder)).lessons():
                    return found
        raise CourseError(
            "the masters (folder `solutions`) are not on this machine; name the course with "
            "--course"
        )

    def lessons(self) -> list[str]:
        """Names of the lessons, sorted."""
        return sorted(
            folder.name
            for folder in self.solutions.iterdir()
            if folder.is_dir() and not folder.name.startswith(".") and _notebooks(folder)
        )

    def master(self, lesson: str, notebook: str = "") -> Master:
        """Read one lesson's master.

        Args:
            notebook: its name without suffix, where the lesson has several.

        Raises:
            CourseError: no such lesson, no such notebook, several where none is named, or an
            unreadable one.
        """
        folder = self.solutions / lesson
        found = _notebooks(folder) if folder.is_dir() else []
        if notebook:
            named = [path for path in found if path.stem == notebook]
            if not named:
                raise CourseError(
                    f"{folder}: there is no {notebook}.ipynb; notebooks here: "
                    + (", ".join(path.name for path in found) or "none")
                )
            found = named
        if len(found) != 1:
            raise CourseError(
                f"{folder}: {len(found)} notebooks where one is needed; lessons here: "
                + (", ".join(self.lessons()) or "none")
            )
        return read_master(found[0])

    def masters(self) -> list[Master]:
        """All lessons' masters, each notebook of a lesson that has several."""
        return [
            read_master(path)
            for lesson in self.lessons()
            for path in _notebooks(self.solutions / lesson)
        ]


def _notebooks(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))


def read_master(path: Path) -> Master:
    """Read a master, whose nbgrader metadata is trusted.

    Raises:
        CourseError: naming the file and the cell.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        cells = [_master_cell(path, place, cell) for place, cell in enumerate(content["cells"], 1)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, CourseError):
            raise
        raise CourseError(f"{path}: not a notebook ({error})") from error
    return Master(path.parent.name, path.stem, path, tuple(cells))


def _master_cell(path: Path, number: int, cell: dict[str, Any]) -> MasterCell:
    source = cell["source"]
    source = source if isinstance(source, str) else "".join(source)
    metadata = cell.get("metadata", {})
    tags = tuple(metadata.get("tags", ()))
    nbgrader = metadata.get("nbgrader")
    is_code = cell["cell_type"] == "code"
    if not nbgrader:
        name = f"cell_{number}" if is_code else ""
        return MasterCell("given" if is_code else "prose", source, name, 0, tags, is_code)
    grade_id = nbgrader.get("grade_id")
    if not isinstance(grade_id, str) or not grade_id:
        raise CourseError(f"{path}: cell {number} has nbgrader metadata but no grade_id; add one")
    kind: Kind = "given" if is_code else "prose"
    if nbgrader.get("solution"):
        kind = "answer"
    elif nbgrader.get("grade"):
        kind = "check"
    marked = nbgrader.get("grade") or nbgrader.get("task")
    points = float(nbgrader.get("points", 0)) if marked else 0
    return MasterCell(kind, source, grade_id, points, tags, is_code, bool(nbgrader.get("locked")))
