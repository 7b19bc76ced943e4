"""``autograder grade`` ended at any moment: the next run finishes, and nothing is lost.

Each moment is drawn from a seed, so that a failing one can be tried again.
"""

from __future__ import annotations

import csv
import json
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classroom import make_course, marks, wanted
from nbgrader.utils import determine_grade, is_grade
from runs import Grader, submissions

# Right, wrong, damaged and missing work; nobody whose notebook takes seconds.
STUDENTS = ["ada", "chen", "dara", "eli", "gus", "hana", "ivo", "lea", "max", "noor"]
NOT_RUN = {"gus", "max"}  # nothing to run: unreadable, and missing


@dataclass(frozen=True)
class Undisturbed:
    """What a run leaves that nobody ends; the seconds and the steps of writing that it takes."""

    left: dict[str, Any]
    seconds: float
    steps: int


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    course = make_course(tmp_path_factory.mktemp("undisturbed") / "course", STUDENTS)
    start = time.monotonic()
    with Grader(course, "--json", "out.json", doomed=0) as grader:
        assert grader.exit_code() == 0, grader.said()
        seconds = time.monotonic() - start
        assert not grader.left_behind()
    found = marks(course)
    assert found == {student: wanted(student) for student in found}
    assert found.keys() >= set(STUDENTS) - {"max"}
    return Undisturbed(left_by(course), seconds, grader.steps())


def left_by(course: Path) -> dict[str, Any]:
    """Everything that counts in a graded course, in a form that can be compared."""
    book = sqlite3.connect(course / "gradebook.db")
    with book:
        (sound,) = book.execute("PRAGMA integrity_check").fetchone()
        version = book.execute("SELECT version_num FROM alembic_version").fetchall()
        stamps = book.execute("SELECT student_id, timestamp FROM submitted_assignment").fetchall()
    book.close()
    files = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    notebooks = sorted(name for name in files if name.startswith("autograded/") and "ipynb" in name)
    return {
        "marks": marks(course),
        "stamps": sorted(stamps),
        "comments": comments(course),
        "version": version,
        "sound": sound,
        "grades.csv": list(csv.DictReader((course / "grades.csv").open(newline=""))),
        "results": {
            student: [submission["status"], submission["score"], *submission["notes"]]
            for student, submission in submissions(course / "out.json").items()
        },
        "notebooks": {name: cells_of(course / name) for name in notebooks},
        "files": sorted(files),
    }


def comments(course: Path) -> list[tuple[Any, ...]]:
    book = sqlite3.connect(course / "gradebook.db")
    with book:
        query = """
            SELECT submitted_assignment.student_id, base_cell.name, comment.auto_comment
            FROM comment JOIN base_cell ON comment.cell_id = base_cell.id
            JOIN submitted_notebook ON comment.notebook_id = submitted_notebook.id
            JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        """
        found = sorted(book.execute(query).fetchall())
    book.close()
    return found


def cells_of(path: Path) -> list[tuple[Any, ...]]:
    """A graded notebook's cells. Seen values differ between runs; verdicts and points don't."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    return [
        (
            cell.id,
            cell.source,
            json.dumps(cell.metadata),
            determine_grade(cell) if is_grade(cell) else None,
            [(output.output_type, output.get("ename")) for output in cell.get("outputs", ())],
        )
        for cell in notebook.cells
    ]


# Moments. Each waits in a running grader, and says whether what it waited for came before the end.

Moment = Callable[[Grader, Path, random.Random, float], bool]


def at_any_time(grader: Grader, course: Path, dice: random.Random, seconds: float) -> bool:
    grader.lives(dice.uniform(0, seconds))
    return True


def while_the_gradebook_is_made(
    grader: Grader, course: Path, dice: random.Random, seconds: float
) -> bool:
    reached = grader.until((course / "gradebook.db").exists)
    grader.lives(dice.uniform(0, 0.05 * seconds))
    return reached


def after_some_submissions(
    grader: Grader, course: Path, dice: random.Random, seconds: float
) -> bool:
    wanted_ = dice.randint(1, len(STUDENTS) - 1)
    reached = grader.until(lambda: grader.done() >= wanted_)
    grader.lives(dice.uniform(0, 0.1))
    return reached


def at_the_last_submission(
    grader: Grader, course: Path, dice: random.Random, seconds: float
) -> bool:
    reached = grader.until(lambda: grader.done() >= len(STUDENTS) - 1)
    grader.lives(dice.uniform(0, 0.5))
    return reached


MOMENTS: list[Moment] = [
    while_the_gradebook_is_made,
    after_some_submissions,
    at_any_time,
    at_the_last_submission,
]
FEW, MANY = 1, 7
IN_A_HURRY = [while_the_gradebook_is_made]
SWEEP = [
    pytest.param(
        moment,
        seed,
        id=f"{moment.__name__}-{seed}",
        marks=[] if seed < FEW and moment in IN_A_HURRY else [pytest.mark.long],
    )
    for seed in range(MANY)
    for moment in MOMENTS
]


@pytest.mark.parametrize(("moment", "seed"), SWEEP)
def test_after_a_kill_the_same_command_goes_on_and_nothing_is_lost(
    moment: Moment, seed: int, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    course = make_course(tmp_path / "course", STUDENTS)
    with Grader(course) as killed:
        dice = random.Random(f"{moment.__name__} {seed}")
        assert moment(killed, course, dice, undisturbed.seconds), killed.said()
        killed.send(signal.SIGKILL)
        goes_on(killed, course, undisturbed)


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.long] if n >= FEW else []) for n in range(MANY)]
)
def test_after_a_kill_between_two_writes_too(
    seed: int, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    course = make_course(tmp_path / "course", STUDENTS)
    step = random.Random(f"step {seed}").randint(1, undisturbed.steps)
    with Grader(course, doomed=step) as killed:
        assert killed.exit_code() == -signal.SIGKILL, killed.said()
        goes_on(killed, course, undisturbed)


def goes_on(killed: Grader, course: Path, undisturbed: Undisturbed) -> None:
    killed.exit_code()
    done = killed.done()
    # At once: what the killed one started may still be there.
    with Grader(course, "--json", "out.json") as again:
        assert again.exit_code() == 0, again.said()
        assert not again.left_behind()
    assert left_by(course) == undisturbed.left
    assert not killed.left_behind()
    kept = {s for s, found in submissions(course / "out.json").items() if found["kept"]}
    assert len(kept | NOT_RUN) >= done, "what was told as done is not run again"


def terminated(grader: Grader) -> set[int]:
    grader.send(signal.SIGTERM)
    return {130, 143}


def interrupted(grader: Grader) -> set[int]:
    grader.interrupt()
    return {130}


def interrupted_impatiently(grader: Grader) -> set[int]:
    grader.interrupt()
    grader.lives(0.05)  # it is cleaning up
    grader.interrupt()
    return {130, -signal.SIGINT}


@pytest.mark.parametrize(
    ("moment", "end"),
    [
        pytest.param(while_the_gradebook_is_made, interrupted, marks=pytest.mark.long),
        pytest.param(after_some_submissions, terminated, marks=pytest.mark.long),
        pytest.param(after_some_submissions, interrupted_impatiently, marks=pytest.mark.long),
        pytest.param(while_the_gradebook_is_made, terminated, marks=pytest.mark.long),
    ],
    ids=lambda value: value.__name__,
)
def test_a_polite_end_leaves_nothing_and_says_how_to_go_on(
    moment: Moment,
    end: Callable[[Grader], set[int]],
    undisturbed: Undisturbed,
    tmp_path: Path,
) -> None:
    course = make_course(tmp_path / "course", STUDENTS)
    with Grader(course) as stopped:
        assert moment(stopped, course, random.Random(0), 0.0), stopped.said()
        codes = end(stopped)
        assert stopped.exit_code() in codes, stopped.said()
        assert not stopped.left_behind()
        assert "Traceback" not in stopped.said()
        assert "same command" in stopped.said().splitlines()[-1]
        goes_on(stopped, course, undisturbed)
