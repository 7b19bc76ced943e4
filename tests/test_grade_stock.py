"""Stock nbgrader's own commands, before and after `autograder grade`, on the same course."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from classroom import CLASS, EXPECTED, IDS, LESSON, NAME, gradebook, make_course, marks, run, wanted

# nbgrader's own steps, where the course's settings have the engine's.
OWN_STEPS = "\nfor step in 'sanitize', 'autograde':\n    del c.Autograde[f'{step}_preprocessors']\n"
# On these nbgrader isn't fooled, stuck or stopped: others break their notebook, or use stderr.
HONEST = ["ada", "bo", "chen", "dara", "jun", "lea", "noor"]


def stock(folder: Path, *arguments: str) -> str:
    """What an nbgrader command says, when it succeeds."""
    venv = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": os.pathsep.join([venv, os.environ["PATH"]])}
    done = subprocess.run(
        [f"{venv}/nbgrader", *arguments],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def copy_of(graded: Path, folder: Path, students: list[str]) -> Path:
    """A copy of the graded class with only some students' notebooks in it."""
    shutil.copytree(graded, folder)
    for path in (*(folder / "submitted").iterdir(), *(folder / "autograded").iterdir()):
        if path.name not in students:
            shutil.rmtree(path)
    return folder


def test_feedback_has_marks_and_reasons_and_no_hidden_test(graded: Path, tmp_path: Path) -> None:
    folder = copy_of(graded, tmp_path / "course", ["dara", "gus"])
    stock(folder, "generate_feedback", LESSON)
    dara, gus = (
        unescape(
            re.sub("<[^>]+>", "", (folder / f"feedback/{name}/{LESSON}/{NAME}.html").read_text())
        )
        for name in ("dara", "gus")
    )
    assert f"{NAME} (Score: 4.0 / 30.0)" in dara
    assert "You stored a whole tuple" in dara
    assert "the file is not JSON" in gus
    for shown in (dara, gus):
        assert "A new Add, and other numbers than above" in shown, "the visible test is there"
        assert "HIDDEN TESTS" not in shown and "def _second_call" not in shown
    assert "def _second_call" in (folder / f"autograded/dara/{LESSON}/{NAME}.ipynb").read_text()


def test_a_release_can_be_made_from_the_same_gradebook(graded: Path, tmp_path: Path) -> None:
    folder = copy_of(graded, tmp_path / "course", [])
    before = marks(folder)
    said = stock(folder, "generate_assignment", LESSON, "--force")
    assert "ERROR" not in said
    assert marks(folder) == before
    made = (folder / "notebooks" / LESSON / f"{NAME}.ipynb").read_text()
    assert "HIDDEN TESTS" not in made and "BEGIN SOLUTION" not in made


def test_the_cells_are_recorded_as_generate_assignment_does(graded: Path, tmp_path: Path) -> None:
    folder = make_course(tmp_path / "course", [])
    stock(folder, "generate_assignment", LESSON, "--force")

    def recorded(course: Path) -> list[tuple[object, ...]]:
        with gradebook(course) as book:
            notebook = book.find_notebook(NAME, LESSON)
            points = {cell.name: cell.max_score for cell in notebook.grade_cells}
            answers = {cell.name for cell in notebook.solution_cells}
            cells = [
                (c.name, c.cell_type, c.locked, c.source, c.checksum, c.name in answers)
                for c in notebook.source_cells
            ]
            assignment = book.find_assignment(LESSON)
            return [*sorted(cells), (points, notebook.kernelspec, assignment.course_id)]

    assert recorded(graded) == recorded(folder)


@pytest.mark.long
def test_validate_tells_learners_what_they_would_lose(tmp_path: Path) -> None:
    folder = tmp_path / "lesson"
    shutil.copytree(CLASS / "dara" / LESSON, folder)
    shutil.copy(CLASS.parents[2] / "notebooks" / LESSON / "mistakes.toml", folder)
    said = stock(folder, "validate", f"{NAME}.ipynb")
    assert "VALIDATION FAILED ON 5 CELL(S)" in said
    assert "You stored a whole tu" in said  # it cuts lines
    shutil.copytree(CLASS / "ada" / LESSON, folder, dirs_exist_ok=True)
    assert "Success! Your notebook passes all the tests." in stock(
        folder, "validate", f"{NAME}.ipynb"
    )


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nbgrader_gives_the_honest_ones_the_same_marks(graded: Path, tmp_path: Path) -> None:
    folder = make_course(tmp_path / "course", HONEST)
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(OWN_STEPS)
    stock(folder, "generate_assignment", LESSON, "--force")
    stock(folder, "autograde", LESSON)
    by_nbgrader = marks(folder)
    assert by_nbgrader == {student: wanted(student) for student in HONEST}
    assert {student: marks(graded)[student] for student in HONEST} == by_nbgrader

    # Ours over nbgrader's work, and nbgrader's over ours.
    assert run(folder) == 0
    assert marks(folder) == by_nbgrader
    stock(folder, "autograde", LESSON, "--student", "dara", "--force")
    assert marks(folder) == by_nbgrader
    assert set(HONEST) < set(EXPECTED) and len(IDS) == 6
