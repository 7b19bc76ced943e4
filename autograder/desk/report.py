"""What a person sees of marks: the table, ``grades.csv``."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from autograder.marking import one_line

from .files import write_text
from .progress import LOG
from .results import Graded, Result

GRADES = "grades.csv"
_FIRST = ("lesson", "student", "status", "score", "max_score")
_MOST_NOTES = 20


def table(graded: Graded) -> str:
    """A lesson's results: a row for each student, then what a grader should know."""
    exercises = graded.master.exercises
    head = ["student", *(exercise.id for exercise in exercises), "score", "status"]
    rows = [head, *(_row(result) for result in graded.results)]
    hand = graded.master.hand_points
    full = f"{graded.master.max_score:g}{f' + {hand:g} by hand' if hand else ''}"
    rows.append(["(of)", *(f"{e.points:g}" for e in exercises), full, ""])
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [_summary(graded)]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    if any(result.standing and result.standing.by_hand for result in graded.results):
        lines.append(
            "* what the gradebook has: marks from before, given by a person, or less a penalty for "
            "being late"
        )
    return "\n".join([*lines, *_notes(graded.results)])


def _summary(graded: Graded) -> str:
    results = graded.results
    statuses = Counter(result.status for result in results).most_common()
    kept = sum(result.kept for result in results)
    parts = [
        f"{graded.master.lesson}: {len(results)} submissions, {graded.seconds:.1f} s",
        ", ".join(f"{count} {status}" for status, count in statuses),
        f"{kept} did not change and were not run again (--fresh runs them)" if kept else "",
    ]
    return "; ".join(filter(None, parts))


def _row(result: Result) -> list[str]:
    standing = result.standing
    marks = [f"{verdict.points:g}" for verdict in result.verdicts]
    score = f"{result.score:g}"
    if standing is not None and standing.by_hand:
        marks = [f"{standing.marks.get(v.exercise, v.points):g}" for v in result.verdicts]
        score = f"{standing.score:g}*"
    return [one_line(result.student), *marks, score, result.status]


def _notes(results: Sequence[Result]) -> list[str]:
    notes = [f"  {one_line(result.student)}: {note}" for result in results for note in result.notes]
    if not notes:
        return []
    left = len(notes) - _MOST_NOTES
    more = [f"  ... and {left} more, all of them in {LOG}"] if left > 0 else []
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
            f"  {root / LOG}  (repairs, timeouts and crashes)",
            f"pages for students: cd {root} && {_nbgrader()} generate_feedback LESSON --force",
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
    full = graded.master.max_score + graded.master.hand_points
    head = (graded.master.lesson, result.student, result.status, score, full)
    row = dict(zip(_FIRST, head, strict=True)) | marks
    return {n: _text(v) if isinstance(v, str) else f"{v:g}" for n, v in row.items()}


def _text(name: str) -> str:
    """A name that no spreadsheet takes for a formula, and no terminal for a command."""
    name = one_line(name)
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def _old_rows(path: Path) -> list[dict[str, str]]:
    with contextlib.suppress(OSError, UnicodeError, csv.Error):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        # An empty field is an exercise of another lesson.
        full = [{name: row[name] for name in row if name and row[name]} for row in rows]
        return [row for row in full if set(_FIRST) <= row.keys()]
    return []
