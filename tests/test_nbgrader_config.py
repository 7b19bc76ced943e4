"""nbgrader's settings, as stock nbgrader reads them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nbformat.v4 as v4
import pytest
from nbformat import NotebookNode
from traitlets.config.loader import Config, PyFileConfigLoader

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
