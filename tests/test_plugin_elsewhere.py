"""README's five lines in a course that knows nothing of this project."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat.v4 as v4
import pytest
from nbgrader.api import Gradebook
from nbgraders import autograde, executed, named, pages, readme_lines

from autograder.desk import plugin

# nbgrader's models warn of a harmless cascade.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
PICTURE = {"dot.png": {"image/png": "iVBORw0KGgo="}}
Marks = dict[str, tuple[float | None, bool]]


def cell(source: str, grade_id: str = "", *, text: bool = False, **more: Any) -> Any:
    """A cell of a master; ``more`` is nbgrader's metadata."""
    nbgrader = {
        "grade": False, "grade_id": grade_id, "locked": False, "schema_version": 3,
        "solution": False, "task": False, **more,
    }  # fmt: skip
    make = v4.new_markdown_cell if text else v4.new_code_cell
    return make(source, metadata={"nbgrader": nbgrader} if grade_id else {})


CODE = [
    cell("import pathlib\n\nimport helper\n\nnumber = int(pathlib.Path('number.txt').read_text())"),
    cell("Write `double`.", text=True),
    cell(
        "### BEGIN SOLUTION\ndef double(x):\n    return 2 * x\n### END SOLUTION",
        "first",
        solution=True,
    ),
    cell(
        "assert double(number) == 42, 'not twice'\n"
        "### BEGIN HIDDEN TESTS\nassert double(helper.THREE) == 6\n### END HIDDEN TESTS",
        "test-1",
        grade=True,
        locked=True,
        points=2,
    ),
    cell("def half(x):\n    return x / 2", "second", solution=True),  # without marks: all of it
    cell("2.0 * (half(4) == 2) + 2.0 * (half(1) == 0.5)", "test-2", grade=True, points=4),
    cell("assert True", "free-of-charge", grade=True, points=0),
    cell("def anything(): ...", "by_hand", grade=True, solution=True, points=5),
    cell("Draw something.", "drawing", text=True, task=True, locked=True, points=3),
]
TEXTS = [
    cell("What is a hook?", "question", text=True, locked=True),
    cell("A hook is a function.", "essay", text=True, grade=True, solution=True, points=3),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, graded: Path) -> Iterator[Path]:
    """A course with one assignment of two notebooks, released."""
    folder = tmp_path_factory.mktemp("elsewhere")
    source = folder / "source" / "hw 1"
    source.mkdir(parents=True)
    for name, cells in {"code": CODE, "texts": TEXTS}.items():
        (source / f"{name}.ipynb").write_text(json.dumps(v4.new_notebook(cells=cells)))
    (source / "number.txt").write_text("21")
    (source / "helper.py").write_text("THREE = 3\n")
    (folder / "nbgrader_config.py").write_text("\n".join(readme_lines()))
    shutil.copy(graded / "gradebook.db", folder)  # making one takes seconds
    assert pages(folder).generate_assignment("hw 1")["success"]
    yield folder
    plugin._WARM.close()


def hand_in(
    course: Path, student: str, answers: dict[str, str], *, leave_out: tuple[str, ...] = ()
) -> None:
    """The release with some answers in it."""
    release = course / "release" / "hw 1"
    target = course / "submitted" / student / "hw 1"
    shutil.copytree(release, target)
    for path in target.glob("*.ipynb"):
        content = json.loads(path.read_text())
        content["cells"] = [
            dict(found, source=answers.get(name, found["source"]))
            for found in content["cells"]
            if (name := found["metadata"].get("nbgrader", {}).get("grade_id")) not in leave_out
        ]
        path.write_text(json.dumps(content))


def marks(course: Path, student: str) -> Marks:
    """Each cell's mark, and whether a person has to look at it."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {
            grade.name: (grade.auto_score, grade.needs_manual_grade)
            for notebook in book.find_submission("hw 1", student).notebooks
            for grade in notebook.grades
        }


ABLE = {
    "first": "def double(x):\n    return x + x",
    "second": "def half(x):\n    return x // 2",
    "by_hand": "def anything():\n    return 'something'",
    "essay": "It is called when *something* happens. <img src=x onerror=alert(1)>",
}


def test_each_kind_of_cell_gets_what_nbgrader_would_give(course: Path) -> None:
    hand_in(course, "able", ABLE)
    autograde(course, "hw 1")
    assert marks(course, "able") == {
        "test-1": (2.0, False),
        "test-2": (2.0, False),
        "free-of-charge": (0.0, False),
        "by_hand": (None, True),
        "drawing": (None, True),
        "essay": (None, True),
    }
    found = named(executed(course, "able", "hw 1", "code"))
    assert found["by_hand"].source == ABLE["by_hand"]
    assert [out.output_type for out in found["free-of-charge"].outputs] == ["stream"]
    assert found["test-2"].outputs[-1].data == {"text/plain": "2"}
    assert named(executed(course, "able", "hw 1", "texts"))["essay"].source == ABLE["essay"]
    files = {path.name for path in (course / "autograded" / "able" / "hw 1").iterdir()}
    assert {"number.txt", "helper.py"} < files, "as nbgrader leaves them for formgrader"


def test_what_is_not_done_earns_nothing_however_little_is_left(course: Path) -> None:
    hand_in(course, "lazy", {}, leave_out=("second", "test-1"))
    assert pages(course).autograde("hw 1", "lazy")["success"]
    assert marks(course, "lazy") == {
        "test-1": (0.0, False),
        "test-2": (0.0, False),
        "free-of-charge": (0.0, False),
        "by_hand": (0.0, False),
        "drawing": (None, True),
        "essay": (0.0, False),
    }
    found = executed(course, "lazy", "hw 1", "code")
    assert "cell 'second' was missing: put back" in found[0].source
    assert "x / 2" not in json.dumps(found), "the master's solution stays with the master"


def test_people_find_what_a_learner_added_and_pasted(course: Path) -> None:
    hand_in(course, "wordy", ABLE)
    path = course / "submitted" / "wordy" / "hw 1" / "texts.ipynb"
    content = json.loads(path.read_text())
    added = v4.new_markdown_cell("See also ![this](attachment:dot.png)", attachments=PICTURE)
    content["cells"][1] |= {"source": "![my answer](attachment:dot.png)", "attachments": PICTURE}
    again = copy.deepcopy(content["cells"][1]) | {"source": "My second thoughts.", "id": "again"}
    content["cells"] += [added, again]
    path.write_text(json.dumps(content))
    assert pages(course).autograde("hw 1", "wordy")["success"]
    question, *found = executed(course, "wordy", "hw 1", "texts")
    assert question.source == "What is a hook?"
    assert [c.source for c in found] == [
        "![my answer](attachment:dot.png)",
        "See also ![this](attachment:dot.png)",
        "My second thoughts.",
    ]
    assert [c.get("attachments") for c in found[:2]] == [PICTURE, PICTURE]


def test_notebooks_that_were_mixed_up_are_not_taken_for_each_other(course: Path) -> None:
    hand_in(course, "hasty", ABLE)
    folder = course / "submitted" / "hasty" / "hw 1"
    (folder / "code.ipynb").replace(folder / "x")
    (folder / "texts.ipynb").replace(folder / "code.ipynb")
    (folder / "x").replace(folder / "texts.ipynb")
    assert pages(course).autograde("hw 1", "hasty")["success"]
    assert marks(course, "hasty")["test-1"] == (0.0, False)
    assert "holds nothing" in executed(course, "hasty", "hw 1", "code")[0].source
    assert "is a notebook of hw 1/code" in executed(course, "hasty", "hw 1", "texts")[0].source


@pytest.fixture
def alone(course: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy of the course with nothing handed in."""

    def make() -> Path:
        folder = tmp_path / "course"
        ignored = shutil.ignore_patterns("submitted", "autograded")
        return Path(shutil.copytree(course, folder, ignore=ignored))

    return make


def test_a_folder_structure_of_its_own(alone: Callable[..., Path]) -> None:
    folder = alone()
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(
            "\nc.CourseDirectory.source_directory = 'masters'\n"
            "c.CourseDirectory.directory_structure = "
            "'{assignment_id}/{nbgrader_step}/{student_id}'\n"
        )
    hand_in(folder, "able", ABLE)
    (folder / "hw 1").mkdir()
    (folder / "source" / "hw 1").replace(folder / "hw 1" / "masters")
    (folder / "hw 1" / "submitted").mkdir()
    (folder / "submitted" / "able" / "hw 1").replace(folder / "hw 1" / "submitted" / "able")
    assert pages(folder).autograde("hw 1", "able")["success"]
    assert marks(folder, "able")["test-2"] == (2.0, False)


def test_tests_that_nbgrader_writes_itself_are_refused(alone: Callable[..., Path]) -> None:
    folder = alone()
    path = folder / "source" / "hw 1" / "code.ipynb"
    content = json.loads(path.read_text())
    content["cells"][3]["source"] = "### AUTOTEST double(1)"
    path.write_text(json.dumps(content))
    hand_in(folder, "able", ABLE)
    result = pages(folder).autograde("hw 1", "able")
    assert not result["success"]
    assert "nbgrader wrote tests in place of its AUTOTEST lines" in result["log"]
