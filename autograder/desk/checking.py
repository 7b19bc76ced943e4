"""One notebook, for the person who wrote it: all checks where the masters are, else the visible."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import course
from autograder.course import Cell, Course, CourseError, Master, NotebookError, Solution
from autograder.engine import MEANING, Limits, Tier, best, start_worker
from autograder.marking import Verdict

from . import judging, settings
from .pool import CONFINED

NO_MASTERS = "the lesson's master, with its solutions and hidden tests, is not on this machine"


@dataclass(frozen=True)
class Row:
    """What became of one exercise. ``solution`` only where it is passed."""

    verdict: Verdict
    heading: str = ""
    solution: Solution | None = None


@dataclass(frozen=True)
class Checked:
    """What became of a notebook.

    Attributes:
        why_not: why the hidden tests did not run, '' if they did.
        tier: how well the notebook was confined: not at all (C) where only its own checks ran,
            in a kernel as the learner's own.
    """

    lesson: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    why_not: str = ""
    tier: Tier | None = None

    @property
    def hidden(self) -> bool:
        """Whether the hidden tests ran, so that there are marks."""
        return not self.why_not

    @property
    def max_score(self) -> float:
        """The points of all exercises."""
        return sum(row.verdict.max_points for row in self.rows)

    @property
    def exit_code(self) -> int:
        """0: full marks; 1: a check does not pass; 3: what could be run passes, marks unknown."""
        if any(row.verdict.points != row.verdict.max_points for row in self.rows):
            return 1
        return 0 if self.hidden else 3

    def as_json(self) -> dict[str, Any]:
        """What ``check --json`` writes. Points are null where hidden tests did not run."""
        return {
            "lesson": self.lesson,
            "score": sum(row.verdict.points for row in self.rows) if self.hidden else None,
            "max_score": self.max_score,
            "hidden": self.hidden,
            "why_not": self.why_not,
            "exercises": [self._row(row) for row in self.rows],
            "notes": list(self.notes),
            "tier": self.tier,
        }

    def _row(self, row: Row) -> dict[str, Any]:
        entry = row.verdict.as_json()
        entry["heading"] = row.heading
        entry["title"] = course.title(row.heading)
        entry["hint"] = row.verdict.hint
        if not self.hidden:
            entry["points"] = None
        if row.solution is not None:
            entry["solution"] = {"code": row.solution.code, "why": row.solution.why}
        return entry

    def lines(self) -> list[str]:
        """What ``check`` prints."""
        found = []
        for verdict in (row.verdict for row in self.rows):
            mark = "✓" if verdict.verdict == "passed" else "✗"
            points = f"{verdict.points:g}" if self.hidden else "?"
            found.append(
                f"{mark} {verdict.exercise:16} {points}/{verdict.max_points:g}  "
                f"{verdict.verdict}  {verdict.message}".rstrip()
            )
        found += [f"note: {note}" for note in self.notes]
        if self.hidden:
            score = sum(row.verdict.points for row in self.rows)
            return [*found, f"{score:g} of {self.max_score:g} points"]
        passed = sum(row.verdict.verdict == "passed" for row in self.rows)
        return [
            *found,
            f"{passed} of {len(self.rows)} visible checks pass; {self.why_not}, so hidden tests "
            "did not run. The marks come from your instructor.",
        ]


def check(
    path: Path,
    root: Path | None,
    tell: Callable[[str], None],
    limits: Sequence[str] = (),
    warn: Callable[[str], None] = lambda _: None,
) -> Checked:
    """Check a notebook.

    Args:
        path: the notebook.
        root: the course folder; None: the one around the notebook, if there is one.
        tell: is given how far it is, in words.
        limits: as for :func:`autograder.desk.settings.limits`.
        warn: is told, before anything is run, where nothing confines the notebook.

    Raises:
        NotebookError: the file can't be read, or is no notebook of the course.
        CourseError: ``root`` is no course, a master can't be used, or a limit is none.
        EngineError: a master fails.
    """
    try:
        cells = course.read_cells(path)
    except NotebookError as error:
        raise NotebookError(f"{path}: {error}") from error
    try:
        around = Course(root) if root else Course.around(path.resolve().parent, Path.cwd())
        masters = around.masters()
    except CourseError:
        if root:
            raise
        around, masters = None, []
    # Settings are a program, and what lies beside a notebook may be a stranger's.
    trusted = root or (around and around.root in (*course.folders_around(Path.cwd()), course.OWN))
    found = settings.limits(around.root if around and trusted else None, limits)
    master = course.recognise(cells, masters)
    if master:
        tier = best()
        if tier not in CONFINED:
            warn(f"the notebook is {MEANING[tier]} (see `autograder doctor`)")
        return _whole(master, cells, tell, found)
    if not masters:
        if limits:
            warn("--limit is for a notebook whose master is on this machine, and does nothing here")
        return _visible(path, NO_MASTERS, tell, warn)
    raise NotebookError(
        f"{path}: no lesson of this course was recognised in it; lessons are "
        + ", ".join(m.lesson for m in masters)
    )


def _whole(
    master: Master, cells: Sequence[Cell], tell: Callable[[str], None], limits: Limits
) -> Checked:
    tell("starting a fresh Python")

    first_total = 0

    def at(done: int, total: int) -> None:
        nonlocal first_total
        first_total = first_total or total
        # Later runs leave cells out: those that hang, or the other exercises.
        again = "" if total == first_total else "once more, with fewer cells: "
        tell(f"{again}cell {done} of {total}")

    files = master.path.parent  # what the lesson ships beside its notebook
    with start_worker(limits, tell=at, brief=True) as worker:
        reference = judging.run_reference(worker, master, files=files)
        judged = judging.judge(worker, master, cells, reference)
    rows = []
    for exercise, verdict in zip(master.exercises, judged.verdicts, strict=True):
        solution = None
        if verdict.verdict == "passed" and exercise.answer:
            solution = course.solution(exercise.answer)
        rows.append(Row(verdict, course.heading_of(master, exercise), solution))
    notes = (*judged.plan.repairs, *judged.observations.trouble)
    return Checked(master.lesson, tuple(rows), notes, tier=judged.tier)


def _visible(
    path: Path, why_not: str, tell: Callable[[str], None], warn: Callable[[str], None]
) -> Checked:
    from . import visible  # nbclient is slow to import

    found, notes = visible.check(path, tell, warn)
    rows = tuple(Row(verdict, heading) for verdict, heading in found)
    return Checked("", rows, tuple(notes), why_not, "C" if sys.platform == "linux" else "D")
