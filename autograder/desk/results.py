"""What became of submissions, from one outcome to a lesson's results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.course import Master
from autograder.marking import Verdict, one_line

from .judging import Judged
from .kept import Kept
from .submissions import Found, Stamp, Submission

Status = Literal["graded", "missing", "unreadable", "other lesson", "crashed", "not graded"]
"""How a submission ended.

'crashed': it ended each worker that it ran on, so all of its exercises have 0 points. Only
'not graded' is the grader's own failure; it leaves earlier marks as they were.
"""


@dataclass(frozen=True)
class Standing:
    """What counts in the end, marks given by people and penalties for being late included."""

    marks: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    by_hand: bool = False


@dataclass(frozen=True)
class Outcome:
    """One submission as it was found, and what became of it.

    Attributes:
        judged: None where there was nothing to run, or nothing came back.
        kept: the result of an earlier run of the same submission, in place of ``judged``.
        key: what a result is kept under, where it can be.
        stamp: when it was handed in.
        crashed: why no result came back, where the submission is to blame.
        trouble: why, where the grader is.
    """

    submission: Submission
    master: Master
    found: Found
    stamp: Stamp = field(default_factory=Stamp)
    key: str = ""
    kept: Kept | None = None
    judged: Judged | None = None
    crashed: str = ""
    trouble: str = ""

    @property
    def status(self) -> Status:
        """The submission's status."""
        if self.trouble:
            return "not graded"
        if self.crashed:
            return "crashed"
        return "graded" if self.found.status == "found" else self.found.status

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict for each exercise, of 0 points where nothing was run."""
        if self.kept is not None and not self.trouble:
            return self.kept.verdicts
        if self.judged is not None and not self.trouble:
            return self.judged.verdicts
        why = one_line(self.trouble or self.crashed or self.found.reason)
        kind: Literal["crashed", "not run"] = "crashed" if self.crashed else "not run"
        return tuple(
            Verdict(exercise.id, 0, exercise.points, kind, None, why)
            for exercise in self.master.exercises
        )

    @property
    def tier(self) -> str | None:
        """How well the notebook was confined when it ran; None where none ran."""
        if self.kept is not None:
            return self.kept.tier
        return self.judged.tier if self.judged is not None else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a grader should know of it: repairs, cells that were stopped, why it failed."""
        if self.kept is not None and not self.trouble:
            return self.kept.notes
        notes = (*self._notes(), *filter(None, [self.stamp.trouble]))
        return tuple(map(one_line, notes))  # a file's name may hold anything

    def _notes(self) -> tuple[str, ...]:
        if self.judged is None or self.trouble:
            return tuple(filter(None, [self.found.reason, self.crashed, self.trouble]))
        notes = (*self.judged.plan.repairs, *self.judged.observations.trouble)
        name = self.found.notebook.name if self.found.notebook else ""
        renamed = name != f"{self.master.name}.ipynb"
        return (f"the notebook is called {name}: known by its cells", *notes) if renamed else notes


@dataclass(frozen=True)
class Result:
    """What is told of an outcome.

    Attributes:
        standing: what the gradebook says; None if the submission is not in it.
        kept: whether this was known from an earlier run.
        tier: how well the notebook was confined when it ran; None where none ran.
    """

    student: str
    status: Status
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    standing: Standing | None
    kept: bool = False
    tier: str | None = None

    @property
    def score(self) -> float:
        """The points of the verdicts."""
        return sum(verdict.points for verdict in self.verdicts)


@dataclass(frozen=True)
class Graded:
    """A class's results on one lesson, by student."""

    master: Master
    results: tuple[Result, ...]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """What ``grade --json`` writes for a lesson."""
        return {
            "lesson": self.master.lesson,
            "seconds": round(self.seconds, 3),
            "submissions": [
                {
                    "student": result.student,
                    "score": result.score,
                    "max_score": self.master.max_score,
                    "status": result.status,
                    "exercises": [verdict.as_json() for verdict in result.verdicts],
                    "notes": list(result.notes),
                    "kept": result.kept,
                    "tier": result.tier,
                }
                for result in self.results
            ],
        }
