"""Courses of other people, with plain assert cells: nbgrader's own examples and test notebooks.

They get the marks that nbgrader gives. The notebooks are those that nbgrader's package ships.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nbgrader
import pytest
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgraders import command, readme_lines

from autograder import marking
from autograder.course import NotebookError, read_cells, read_master
from autograder.desk import judging
from autograder.engine import Limits, Worker

SHIPPED = Path(nbgrader.__file__).parent
GUIDE = SHIPPED / "docs" / "source" / "user_guide"
FILES = SHIPPED / "tests" / "apps" / "files"
Marks = dict[tuple[str, str, str], float]


def guide(root: Path) -> None:
    """The course of nbgrader's user guide."""
    shutil.copytree(GUIDE / "source" / "ps1", root / "source" / "ps1")
    shutil.copytree(GUIDE / "submitted", root / "submitted")


def suite(root: Path) -> None:
    """What nbgrader's tests of autograding hand in, against the master they use."""
    (root / "source" / "ps1").mkdir(parents=True)
    shutil.copy(FILES / "submitted-unchanged.ipynb", root / "source" / "ps1" / "p1.ipynb")
    for path in sorted(FILES.glob("submitted-*.ipynb")):
        folder = root / "submitted" / path.stem / "ps1"
        folder.mkdir(parents=True)
        shutil.copy(path, folder / "p1.ipynb")


def stock(root: Path) -> Marks:
    """Marks of the autograded cells by nbgrader itself."""
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 30\n")
    for arguments in (["generate_assignment", "ps1"], ["autograde", "ps1"]):
        command(root, *arguments)
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            (submission.student.id, book.name, grade.cell.name): grade.auto_score
            for submission in gradebook.assignment_submissions("ps1")
            for book in submission.notebooks
            for grade in book.grades
            if grade.auto_score is not None and grade.cell.name not in by_hand(book)
        }


def by_hand(book: SubmittedNotebook) -> set[str]:
    """Names of the cells that a person marks: answers with points of their own."""
    return {cell.name for cell in book.notebook.solution_cells}


def ours(root: Path) -> tuple[Marks, set[str]]:
    """The same by this project's engine; and how the marks were checked."""
    found: Marks = {}
    checked = set()
    with Worker(Limits(cell_seconds=20)) as worker:
        for path in sorted((root / "source" / "ps1").glob("*.ipynb")):
            master = read_master(path)
            plain = {exercise.id: () for exercise in master.exercises}
            reference = judging.Reference(master, "secret", plain, marking.shared())
            for handed in sorted(root.glob(f"submitted/*/ps1/{path.name}")):
                try:
                    cells = read_cells(handed)
                except NotebookError:
                    continue
                for verdict in judging.judge(worker, master, cells, reference).verdicts:
                    found[handed.parts[-3], master.name, verdict.exercise] = verdict.points
                    checked.add(verdict.checked)
    return found, checked


@pytest.mark.long  # stock nbgrader takes five seconds for each notebook
@pytest.mark.timeout(900)
@pytest.mark.parametrize("course", [guide, suite])
def test_the_marks_are_nbgraders(course: object, tmp_path: Path) -> None:
    assert callable(course)
    course(tmp_path)
    theirs = stock(tmp_path)
    mine, checked = ours(tmp_path)
    assert theirs
    assert {key: mine.get(key) for key in theirs} == theirs
    assert checked == {"assert"}

    before = everything(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text("\n".join(readme_lines()))
    assert command(tmp_path, "autograde", "ps1", "--force").returncode == 0
    assert everything(tmp_path) == before


def everything(root: Path) -> dict[tuple[str, ...], tuple[object, ...]]:
    """All that nbgrader's own steps leave in the gradebook, for cells that people mark too."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            (submission.student.id, type(mark).__name__, book.name, mark.name): (
                getattr(mark, "auto_score", None),
                getattr(mark, "needs_manual_grade", None),
                getattr(mark, "auto_comment", None),
            )
            for submission in gradebook.assignment_submissions("ps1")
            for book in submission.notebooks
            for mark in [*book.grades, *book.comments]
        }
