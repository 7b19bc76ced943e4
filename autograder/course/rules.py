"""What a master must be, as far as it can be seen without running it.

Each finding names the cell. ``autograder build`` refuses a master that has any.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .check_rules import check_cell_findings
from .master import ANSWER_SUFFIX, Exercise, Master

SAFE_TAG = "raises-exception"
_MARKS = re.compile(r"^[ \t]*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)[ \t]*$", re.M)
# Whatever nbgrader takes for a mark (anywhere in a line), or a person meant as one.
_LIKE_MARKS = re.compile(
    r"^.*\b(BEGIN|END) (SOLUTION|HIDDEN TESTS).*$"
    r"|^[ \t]*#+[ \t]*(?i:(begin|end)[ _-]*(the[ _-]*)?(solution|hidden|tests?\b)).*$",
    re.M,
)
_HINT = re.compile(r"<details>\s*<summary>\s*Hint ([123])\b", re.I)


def check_master(master: Master) -> list[str]:
    """All that is wrong with a master; an empty list where nothing is."""
    return [*_cells(master), *_exercises(master)]


def _cells(master: Master) -> Iterator[str]:
    counts = Counter(cell.grade_id for cell in master.cells if cell.grade_id)
    for grade_id, count in counts.items():
        if count > 1:
            yield f"cell {grade_id!r}: the id is there {count} times; give each cell its own"
    for cell in master.cells:
        where = f"cell {cell.grade_id!r}"
        if cell.kind == "given" and (not cell.locked or cell.grade_id.startswith("cell_")):
            yield f"{where}: code that is no answer must be locked and have a grade_id"
        if cell.kind == "check" and not cell.locked:
            yield f"{where}: lock it, so that learners don't edit a check by accident"
        if cell.kind in ("answer", "check") and SAFE_TAG not in cell.tags:
            yield f"{where}: add the tag {SAFE_TAG!r}, so that 'run all' goes on after it"
        hidden = _hidden_trouble(cell.source, cell.kind)
        if hidden:
            yield f"{where if cell.grade_id else 'a text cell'}: {hidden}"


def _hidden_trouble(source: str, kind: str) -> str | None:
    """Marks that nbgrader wouldn't cut, so that learners would see what they enclose."""
    marks = [f"{found[1]} {found[2]}" for found in _MARKS.finditer(source)]
    if len(_LIKE_MARKS.findall(source)) > len(marks):
        return (
            "a mark is misspelt, or not alone in its line; nbgrader knows '### BEGIN SOLUTION' and "
            "'### BEGIN HIDDEN TESTS'"
        )
    region = {"answer": "SOLUTION", "check": "HIDDEN TESTS"}.get(kind)
    if any(not mark.endswith(region or "\0") for mark in marks):
        return "marks are not cut from this kind of cell, so learners would see what is inside"
    if marks != [f"BEGIN {region}", f"END {region}"] * (len(marks) // 2):
        return f"'### BEGIN {region}' and '### END {region}' don't pair up"
    return None


def _exercises(master: Master) -> Iterator[str]:
    given = [cell for cell in master.cells if cell.kind == "given"]
    if not master.exercises:
        yield "the lesson has no check cell"
    hints = _hints(master)
    for exercise in master.exercises:
        where = f"exercise {exercise.id!r}"
        if exercise.points <= 0:
            yield f"{where}: give its check cell points"
        if exercise.answer is None:
            wanted = exercise.id + ANSWER_SUFFIX
            yield f"{where}: no answer cell; add one with the grade_id {wanted!r}"
        else:
            yield from (f"{where}: {finding}" for finding in _answer(exercise))
        if hints.get(exercise.id) != ["1", "2", "3"]:
            yield (
                f"{where}: needs three hints, 'Hint 1' to 'Hint 3' in <details>, before the next "
                "exercise"
            )
        if "### BEGIN HIDDEN TESTS" not in exercise.check.source:
            yield f"{where}: its check cell has no hidden tests"
        if not re.search(r"^[^#\n]*\bexpect\(", exercise.check.release, re.M):
            yield f"{where}: its check cell shows learners no test"
        names = [cell.source for cell in given]
        for finding in check_cell_findings(exercise.check.source, exercise.id, names):
            yield f"{where}: {finding}"


def _answer(exercise: Exercise) -> Iterator[str]:
    assert exercise.answer is not None
    cell = exercise.answer
    if not re.search(rf"^def {re.escape(exercise.id)}\(", cell.release, re.M):
        yield f"the answer cell does not define `{exercise.id}`"
    if not cell.solution.strip():
        yield "the answer cell has no '### BEGIN SOLUTION' region"
    if not re.search(r"^\s*# Why: \S", cell.solution, re.M):
        yield "the solution has no why; add a comment '# Why: ...' inside its region"
    if not re.search(r"^\s*# TODO: \S", cell.release, re.M):
        yield "no TODO; add a comment '# TODO: ...' outside the solution region"


def _hints(master: Master) -> dict[str, list[str]]:
    """The numbers of the hints in the text around each exercise, up to the next one."""
    found: dict[str, list[str]] = {}
    current = None
    for cell in master.cells:
        if cell.kind == "answer":
            current = cell.grade_id.removesuffix(ANSWER_SUFFIX)
        elif cell.kind == "prose" and current:
            found.setdefault(current, []).extend(_HINT.findall(cell.source))
    return found
