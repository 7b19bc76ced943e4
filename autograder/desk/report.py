"""What a person sees of grading: progress, the table, ``grades.csv``."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from .files import write_text
from .results import Graded, Result
from .submissions import Submission

GRADES = "grades.csv"
_FIRST = ("lesson", "student", "status", "score", "max_score")
_MOST_NOTES = 40


class Progress:
    """A line that says how far grading is: one that is rewritten on a terminal, else new ones."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty()

    def start(self, total: int, jobs: int) -> None:
        """Say what is about to happen."""
        noun = "submission" if total == 1 else "submissions"
        self._say(f"grading {total} {noun}, {jobs} at a time")

    def __call__(self, done: int, total: int, submission: Submission) -> None:
        """Say that one more is done."""
        self._say(f"{done} of {total} done: {submission.student}, {submission.lesson}")

    def end(self) -> None:
        """Leave the line free for other output."""
        if self._rewrites:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _say(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text[:78]}" if self._rewrites else f"{text}\n")
        self._stream.flush()


def table(graded: Graded) -> str:
    """A lesson's results: a row for each student, then what a grader should know."""
    exercises = graded.master.exercises
    head = ["student", *(exercise.id for exercise in exercises), "score", "status"]
    rows = [head, *(_row(result) for result in graded.results)]
    rows.append(["(of)", *(f"{e.points:g}" for e in exercises), f"{graded.master.max_score:g}", ""])
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [f"{graded.master.lesson}: {len(graded.results)} submissions, {graded.seconds:.1f} s"]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    if any(result.standing and result.standing.by_hand for result in graded.results):
        lines.append("* with marks given by a person, or a penalty for being late")
    return "\n".join([*lines, *_notes(graded.results)])


def _row(result: Result) -> list[str]:
    standing = result.standing
    marks = [f"{verdict.points:g}" for verdict in result.verdicts]
    score = f"{result.score:g}"
    if standing is not None and standing.by_hand:
        marks = [f"{standing.marks.get(v.exercise, v.points):g}" for v in result.verdicts]
        score = f"{standing.score:g}*"
    return [result.student, *marks, score, result.status]


def _notes(results: Sequence[Result]) -> list[str]:
    notes = [f"  {result.student}: {note}" for result in results for note in result.notes]
    if not notes:
        return []
    left = len(notes) - _MOST_NOTES
    more = [f"  ... and {left} more, on top of the notebooks in autograded/"] if left > 0 else []
    return ["notes:", *notes[:_MOST_NOTES], *more]


def _nbgrader() -> str:
    return str(Path(sys.executable).with_name("nbgrader"))


def places(root: Path, gradebook: str) -> str:
    """Where the marks are."""
    return "\n".join(
        [
            "marks:",
            f"  {gradebook}  (nbgrader's; see menu Nbgrader, Formgrader in JupyterLab)",
            f"  {root / GRADES}",
            f"  {root / 'autograded'}  (the notebooks with their verdicts)",
            f"pages for students: cd {root} && {_nbgrader()} generate_feedback LESSON",
        ]
    )


def write_csv(path: Path, lessons: Sequence[Graded]) -> None:
    """Write the marks that count. Rows of lessons that were not graded now are kept.

    Raises:
        OSError: the file can't be written.
    """
    now = {graded.master.lesson for graded in lessons}
    rows = [row for row in _old_rows(path) if row["lesson"] not in now]
    rows += [_csv_row(graded, result) for graded in lessons for result in graded.results]
    rows.sort(key=lambda row: (row["lesson"], row["student"]))
    columns = list(dict.fromkeys([*_FIRST, *(name for row in rows for name in row)]))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def _csv_row(graded: Graded, result: Result) -> dict[str, str]:
    standing = result.standing
    marks = {verdict.exercise: verdict.points for verdict in result.verdicts}
    score = result.score
    if standing is not None:
        marks = {name: standing.marks.get(name, points) for name, points in marks.items()}
        score = standing.score
    head = (graded.master.lesson, result.student, result.status, score, graded.master.max_score)
    row = dict(zip(_FIRST, head, strict=True)) | marks
    return {name: value if isinstance(value, str) else f"{value:g}" for name, value in row.items()}


def _old_rows(path: Path) -> list[dict[str, str]]:
    with contextlib.suppress(OSError, UnicodeError, csv.Error):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        # An empty field is an exercise of another lesson.
        full = [{name: row[name] for name in row if name and row[name]} for row in rows]
        return [row for row in full if set(_FIRST) <= row.keys()]
    return []
