"""nbgrader's settings, as stock nbgrader reads them."""

from __future__ import annotations

import copy
import os
import shutil
import sys
from pathlib import Path

import nbformat
import nbformat.v4 as v4
import pytest
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum
from nbgrader.validator import Validator
from traitlets.config.loader import Config, PyFileConfigLoader

from autograder.course import Course

ROOT = Path(__file__).resolve().parent.parent


def settings() -> Config:
    """What stock nbgrader reads from nbgrader_config.py."""
    return PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()


def test_nbgrader_finds_the_course_wherever_it_lies() -> None:
    course = settings().CourseDirectory
    assert (course.root, course.course_id) == (str(ROOT), "pytorch_hooks")
    for folder in (course.source_directory, course.release_directory):
        assert (ROOT / folder).is_dir()


def test_nbgrader_finds_its_helpers_where_the_venv_is_not_activated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    settings()
    settings()
    assert shutil.which("alembic") == str(Path(sys.executable).with_name("alembic"))
    assert os.environ["PATH"].count(os.pathsep) == 1


def test_feedback_never_shows_a_hidden_test() -> None:
    cell = v4.new_code_cell(
        "visible()\n### BEGIN HIDDEN TESTS\nsecret()\n### END HIDDEN TESTS",
        outputs=[
            v4.new_output("stream", text="fine"),
            v4.new_output(
                "error", ename="E", evalue="no", traceback=["1 visible()", "2 secret()", "E: no"]
            ),
        ],
        metadata={"nbgrader": {"grade": True, "solution": False, "grade_id": "hook"}},
    )
    learner = v4.new_code_cell("# BEGIN HIDDEN TESTS")
    shown = feedback(v4.new_notebook(cells=[cell, learner]))
    assert shown.cells[0].source == "visible()"
    assert shown.cells[0].outputs[0].text == "fine"
    assert shown.cells[0].outputs[1].traceback == ["E: no"]
    assert shown.cells[1].source == "# BEGIN HIDDEN TESTS"


def feedback(notebook: NotebookNode) -> NotebookNode:
    """A notebook as those steps leave it that nbgrader's feedback takes from our settings."""
    steps = [s for s in settings().GenerateFeedback.preprocessors if s.__name__ == "HideTests"]
    assert steps
    for step in steps:
        notebook, _ = step().preprocess(notebook, {})
    return notebook


# The Validate button, which does what nbgrader's Validator does with these settings.


def validated(path: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = Validator(config=settings()).validate(str(path))
    return found


@pytest.mark.parametrize("lesson", Course(ROOT).lessons())
def test_validate_names_each_check_that_failed_and_says_its_sentence(
    lesson: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(ROOT / "notebooks" / lesson, tmp_path / lesson)
    master = Course(ROOT).master(lesson)
    failed = validated(folder / master.path.name)["failed"]
    assert [cell["source"] for cell in failed] == [
        exercise.check.source.partition("\n")[0] for exercise in master.exercises
    ]
    for cell in failed:
        assert cell["source"].startswith("# ")
        assert "TODO" in cell["raw_error"]
        assert max(map(len, cell["raw_error"].splitlines())) <= 95


def test_validate_says_that_a_check_was_edited(tmp_path: Path) -> None:
    lesson = Course(ROOT).lessons()[0]
    folder = shutil.copytree(ROOT / "notebooks" / lesson, tmp_path / lesson)
    (path,) = folder.glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    check = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade"))
    check.source = "# easy\nassert False"
    # The rest isn't needed for it.
    notebook.cells = [check]
    nbformat.write(notebook, path)
    assert validated(path) == {"changed": [{"source": check.source}]}


def test_elsewhere_the_code_of_a_check_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = v4.new_code_cell(
        "# Check\nexpect()",
        outputs=[v4.new_output("error", ename="E", evalue="no", traceback=["no " * 50])],
        metadata={"nbgrader": {"grade": True, "solution": False, "grade_id": "a", "points": 1}},
    )
    cell.metadata.nbgrader.checksum = compute_checksum(cell)
    kept = copy.deepcopy(cell)
    shorten = settings().Execute.on_cell_error
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    shorten(cell=cell, cell_index=0, execute_reply={})
    assert cell == kept
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    shorten(cell=cell, cell_index=0, execute_reply={})
    assert cell.source == "# Check"
    assert cell.metadata.nbgrader.checksum == compute_checksum(cell)
    assert len(cell.outputs[0].traceback) == 2
