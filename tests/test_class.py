"""On a class of 200, from the bank's answers and mutants, stock nbgrader gives the same marks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from classroom import IDS, LESSON, POINTS, make_course, marks, run
from mixture import Student, hand_in, make_class
from test_grade_stock import stock

# Nobody is left out: no answer of the bank and no mutant loops or ends its process, since
# test_answers.py runs all of them in the tests' own process.
SIZE = 200
# nbgrader's own steps with time for a busy machine, whatever the course's settings say.
STOCK = """
c.Autograde.pop("sanitize_preprocessors", None)
c.Autograde.pop("autograde_preprocessors", None)
c.Execute.timeout = c.Execute.iopub_timeout = 600
"""


def by_stock(folder: Path, students: dict[str, Student]) -> dict[str, dict[str, float | None]]:
    course = make_course(folder / next(iter(students)), [])
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(STOCK)
    hand_in(course, students)
    stock(course, "generate_assignment", LESSON, "--force")
    stock(course, "autograde", LESSON)
    return marks(course)


@pytest.mark.long  # about seven seconds a student, two at a time
@pytest.mark.timeout(7200)
def test_stock_nbgrader_agrees_on_every_honest_one(tmp_path: Path) -> None:
    students = make_class(SIZE, "a class")
    course = make_course(tmp_path / "ours", [])
    hand_in(course, students)
    assert run(course) == 0
    ours = marks(course)

    names = list(students)
    halves = [{n: students[n] for n in half} for half in (names[::2], names[1::2])]
    theirs = {}
    with ThreadPoolExecutor(2) as two:
        for found in two.map(partial(by_stock, tmp_path), halves):
            theirs |= found

    assert ours.keys() == theirs.keys() == students.keys()
    off = [
        f"{name}, {exercise} ({answer.origin}): ours {ours[name][exercise]}, "
        f"stock {theirs[name][exercise]}; beside it "
        + ", ".join(f"{other} ({answers[other].origin})" for other in IDS if other != exercise)
        for name, answers in students.items()
        for exercise, answer in answers.items()
        if ours[name][exercise] != theirs[name][exercise]
    ]
    assert not off, "\n".join(off)
    assert sum(found == POINTS for found in ours.values()) >= SIZE // 5
    assert all(0 < sum(found[e] == 0 for found in ours.values()) < SIZE for e in IDS)
