"""What became of submissions, from one outcome to a lesson's results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.course import Master
from autograder.marking import Verdict, one_line

from .judging import Judged, Reference
from .submissions import Found, Submission

Status = Literal["graded", "missing", "unreadable", "other lesson", "not graded"]
"""How a submission ended. Only 'not graded' is the grader's own failure."""


@dataclass(frozen=True)
class Standing:
    """What counts in the end, marks given by people and penalties for being late included."""

    marks: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    by_hand: bool = False


@dataclass(frozen=True)
class Outcome:
    """One submission, run and judged; ``judged`` is None where there was nothing to run."""

    submission: Submission
    master: Master
    found: Found
    judged: Judged | None = None
    reference: Reference | None = None
    trouble: str = ""

    @property
    def status(self) -> Status:
        """The submission's status."""
        if self.trouble:
            return "not graded"
        return "graded" if self.found.status == "found" else self.found.status

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict for each exercise, of 0 points where nothing was run."""
        if self.judged is not None and not self.trouble:
            return self.judged.verdicts
        why = one_line(self.trouble or self.found.reason)
        return tuple(
            Verdict(exercise.id, 0, exercise.points, "not run", None, why)
            for exercise in self.master.exercises
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a grader should know of it: repairs, cells that were stopped, why it failed."""
        return tuple(map(one_line, self._notes()))  # a file's name may hold anything

    def _notes(self) -> tuple[str, ...]:
        if self.judged is None or self.trouble:
            return tuple(filter(None, [self.found.reason, self.trouble]))
        notes = (*self.judged.plan.repairs, *self.judged.observations.trouble)
        name = self.found.notebook.name if self.found.notebook else ""
        renamed = name != f"{self.master.name}.ipynb"
        return (f"the notebook is called {name}: known by its cells", *notes) if renamed else notes


@dataclass(frozen=True)
class Result:
    """What is kept of an outcome. ``standing`` is what the gradebook says, None if not in it."""

    student: str
    status: Status
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    standing: Standing | None

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
                }
                for result in self.results
            ],
        }
