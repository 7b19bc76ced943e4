"""What stock nbgrader gives marks for, or loses marks to, and what this grader does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cheats
import pytest
from cheats import ATTACKS, OURS, RIGHT, STOCK, STRIPPED, Attack

from autograder.course import Course, Master, parse_cells
from autograder.desk import judging
from autograder.engine import Limits, Worker

LESSON = "cheats"


def cell(grade_id: str, source: str, **what: Any) -> dict[str, Any]:
    kind = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    return {
        "cell_type": "code",
        "id": grade_id,
        "metadata": {"nbgrader": {**kind, **what, "grade_id": grade_id}},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def notebook(checks: dict[str, str], answers: dict[str, str]) -> dict[str, Any]:
    cells = [cell("given_setup", cheats.SETUP)]
    for name, check in checks.items():
        cells.append(cell(f"{name}_answer", answers[name], solution=True, locked=False))
        cells.append(cell(name, check, grade=True, points=4))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def course(root: Path, checks: dict[str, str]) -> Master:
    solved = {
        name: f"def {name}(x):\n    ### BEGIN SOLUTION\n    "
        + source.splitlines()[1].strip()
        + "\n    ### END SOLUTION"
        for name, source in RIGHT.items()
    }
    folder = root / "solutions" / LESSON
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(notebook(checks, solved)))
    return Course(root).master(LESSON)


def submission(attack: Attack, checks: dict[str, str]) -> str:
    made = notebook(checks, {**RIGHT, attack.exercise: attack.answer})
    if attack.spoil is not None:
        attack.spoil(made)
    return json.dumps(made)


@pytest.fixture(scope="module")
def ours(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Worker, Master, judging.Reference]]:
    master = course(tmp_path_factory.mktemp("ours"), OURS)
    with Worker(Limits(cell_seconds=4)) as worker:
        yield worker, master, judging.run_reference(worker, master)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_gets_nothing_and_costs_nobody_else(
    name: str, ours: tuple[Worker, Master, judging.Reference]
) -> None:
    worker, master, reference = ours
    attack = ATTACKS[name]
    cells = parse_cells(submission(attack, OURS).encode())
    judged = judging.judge(worker, master, cells, reference)
    points = {verdict.exercise: verdict.points for verdict in judged.verdicts}
    assert points == {exercise: 0 if exercise == attack.exercise else 4 for exercise in RIGHT}
    (verdict,) = [v for v in judged.verdicts if v.exercise == attack.exercise]
    assert verdict.message
    assert verdict.checked == "value"


@pytest.mark.parametrize("name", STRIPPED)
def test_it_gets_everything_where_checks_keep_what_they_expect(
    name: str,
    ours: tuple[Worker, Master, judging.Reference],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autograder.course.plan.strip", lambda source: source)
    worker, master, reference = ours
    cells = parse_cells(submission(ATTACKS[name], OURS).encode())
    judged = judging.judge(worker, master, cells, reference)
    assert {verdict.points for verdict in judged.verdicts} == {4}


@pytest.mark.parametrize("checks", [STOCK, OURS])
def test_a_check_in_the_history_would_be_read(checks: dict[str, str]) -> None:
    """Ours are in none, whether they keep what they expect or not."""
    shell = SimpleNamespace(user_ns={"In": ["", checks["by_list"]]})
    space: dict[str, Any] = {"get_ipython": lambda: shell}
    exec(ATTACKS["the check's source in the history"].answer, space)
    assert space["by_list"]([1.0, 2.0]) == [2.0, 4.0]


def test_the_right_answers_get_everything(
    ours: tuple[Worker, Master, judging.Reference],
) -> None:
    worker, master, reference = ours
    cells = parse_cells(json.dumps(notebook(OURS, RIGHT)).encode())
    assert judging.judge(worker, master, cells, reference).score == 4 * len(RIGHT)


@pytest.mark.long  # stock nbgrader takes about eight seconds for each
@pytest.mark.timeout(1800)
def test_what_stock_nbgrader_does(tmp_path: Path) -> None:
    course(tmp_path, STOCK)
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.source_directory = 'solutions'\n"
        "c.Execute.timeout = 6\nc.Execute.iopub_timeout = 6\n"
        "c.Autograde.exclude_overriding = {}\n"
    )
    tried = {
        name: attack for name, attack in ATTACKS.items() if attack.stock != "has no such thing"
    }
    for number, attack in enumerate(tried.values()):
        folder = tmp_path / "submitted" / f"s{number:02}" / LESSON
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_text(submission(attack, STOCK))
    programs = str(Path(sys.executable).parent)  # nbgrader starts alembic by name
    for command in ("generate_assignment", "autograde"):
        subprocess.run(
            [f"{programs}/nbgrader", command, LESSON],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
            capture_output=True,
            check=False,  # autograde fails where it lost somebody's marks
        )
    points = marks(tmp_path)
    off = []
    for number, (name, attack) in enumerate(tried.items()):
        mine = points.get(f"s{number:02}", {})
        fooled = mine.get(attack.exercise, 0) > 0
        lost = mine.get("honest", 0) == 0
        seen = "gives marks" if fooled else "loses other marks" if lost else "does as well"
        if seen != attack.stock:
            off.append(f"{name}: {mine}")
    assert not off, "\n".join(off)


def marks(root: Path) -> dict[str, dict[str, float]]:
    """Points by student and exercise, as nbgrader's gradebook has them."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            submitted.student.id: {
                grade.cell.name: grade.score
                for book in submitted.notebooks
                for grade in book.grades
            }
            for submitted in gradebook.assignment_submissions(LESSON)
        }
