"""Where the masters aren't: a student's copy, checked by what its own cells say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from autograder.cli import main
from autograder.course import Course, CourseError
from autograder.desk import checking, visible
from autograder.engine import MEANING

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "notebooks" / "01_add_and_model"


@pytest.fixture(autouse=True)
def no_masters(monkeypatch: pytest.MonkeyPatch) -> None:
    def around(*_: Path) -> Course:
        raise CourseError("the masters are not on this machine")

    monkeypatch.setattr(Course, "around", around)


def cell(source: str, grade_id: str = "", **what: Any) -> Any:
    kind = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    metadata = {"nbgrader": {**kind, "grade_id": grade_id, **what}} if grade_id else {}
    made = nbformat.v4.new_code_cell(source, metadata=metadata)
    if what.get("grade"):
        made.metadata.nbgrader.checksum = compute_checksum(made)
    return made


def exercise(name: str, answer: str, check: str) -> list[Any]:
    return [
        nbformat.v4.new_markdown_cell(f"## Exercise: {name} (2 points)"),
        cell(answer, f"{name}_answer", solution=True, locked=False),
        cell(check, name, grade=True, points=2),
    ]


def double(name: str, answer: str) -> list[Any]:
    return exercise(name, answer, f"expect({name}(3), 6, '{name}(3)', mistakes={{'squared': 9}})")


CELLS = [
    cell("from autograder.lab import Todo, check, expect\nimport os", "given_setup"),
    *double("right", "def right(x):\n    return 2 * x"),
    *double("wrong", "def wrong(x):\n    return x * x"),
    *exercise("todo", "def todo():\n    raise Todo", "expect(lambda: todo(), 1, 'it')"),
    *double("loops", "def loops(x):\n    return 2 * x\nwhile True:\n    pass"),
    *double("exits", "def exits(x):\n    return 2 * x\nos._exit(3)"),
    *exercise("broken", "def broken(x)\n    return 2", "expect(lambda: broken(3), 6, 'it')"),
    *exercise("plain", "value = 2", "assert value == 3, 'the value is not 3'"),
    *exercise("asks", "def asks():\n    return input()", "expect(lambda: asks(), 6, 'it')"),
    *exercise("kept", "x = 1", "expect(x, 1, 'x')"),
    *double("edited", "def edited(x):\n    return 1"),
    cell("def gone():\n    pass", "gone_answer", solution=True, locked=False),
    cell("check()", "given_check"),
    *double("last", "def last(x):\n    return 2 * x"),
]


pytestmark = pytest.mark.xdist_group("visible")  # its fixture runs a notebook, once


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> checking.Checked:
    folder = tmp_path_factory.mktemp("student")
    notebook = nbformat.v4.new_notebook(cells=CELLS)
    for made in notebook.cells:
        if made.metadata.get("nbgrader", {}).get("grade_id") == "edited":
            made.source = "print('all is well')"
    (folder / "mistakes.toml").write_text("[squared]\nsays = 'That is the square.'\nhint = 2")
    nbformat.write(notebook, folder / "mine.ipynb")
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visible, "CELL_SECONDS", 8)
        patch.setattr(Course, "around", lambda *_: (_ for _ in ()).throw(CourseError("none")))
        found = checking.check(folder / "mine.ipynb", None, told.append)
    # The loop and the exit each cost a run, which is begun anew without them.
    assert told.count("starting a fresh Python") == 3
    assert f"cell 1 of {sum(made.cell_type == 'code' for made in CELLS)}" in told
    assert told[-1].startswith("cell ")
    assert not list(folder.glob(".autograder*"))
    return found


def row(checked: checking.Checked, name: str) -> dict[str, Any]:
    (found,) = [row for row in checked.as_json()["exercises"] if row["id"] == name]
    return found


@pytest.mark.parametrize(
    ("name", "verdict", "mistake", "says"),
    [
        ("right", "passed", None, ""),
        ("wrong", "failed", "squared", "wrong(3): Seen: 9. That is the square."),
        ("todo", "failed", "todo", "This exercise is still a TODO"),
        ("loops", "timed out", "timed_out", "took too long"),
        ("exits", "crashed", "crashed", "Python itself stopped"),
        ("broken", "failed", "answer_unreadable", "expected ':' (line 1 of the cell). "),
        ("plain", "failed", "assertion", "the value is not 3"),
        ("asks", "failed", "input_refused", "input() can't be answered"),
        ("kept", "passed", None, ""),
        ("last", "passed", None, ""),
    ],
)
def test_each_check_says_what_it_says(
    checked: checking.Checked, name: str, verdict: str, mistake: str | None, says: str
) -> None:
    found = row(checked, name)
    assert (found["verdict"], found["mistake"]) == (verdict, mistake)
    assert says in found["message"]
    assert bool(found["message"]) is bool(says)
    assert "Traceback" not in found["message"]
    assert found["title"] == f"Exercise: {name}"


def test_the_reply_does_not_speak_of_marks(checked: checking.Checked) -> None:
    result = checked.as_json()
    assert (result["hidden"], result["score"], result["max_score"]) == (False, None, 22)
    assert result["why_not"] == checking.NO_MASTERS
    assert {row["points"] for row in result["exercises"]} == {None}
    assert {row["max_points"] for row in result["exercises"]} == {2}
    assert not any("solution" in row for row in result["exercises"])
    assert row(checked, "wrong")["hint"] == 2
    assert checked.exit_code == 1


def test_checks_that_were_edited_or_are_gone_are_named(checked: checking.Checked) -> None:
    assert checked.notes == (
        "the check of 'gone' is missing in this notebook",
        "the check of 'edited' was edited: it says nothing now",
    )


def test_the_lines_for_a_terminal(checked: checking.Checked) -> None:
    *rows, gone, edited, total = checked.lines()
    assert rows[0] == "✓ right            ?/2  passed"
    assert rows[1].startswith("✗ wrong            ?/2  failed  wrong(3): Seen: 9.")
    assert gone.startswith("note: ")
    assert edited.startswith("note: ")
    passed = sum(line.startswith("✓") for line in rows)
    start = f"{passed} of {len(rows)} visible checks pass; {checking.NO_MASTERS}, so hidden tests"
    assert total.startswith(start)
    assert total.endswith("The marks come from your instructor.")


def student(folder: Path, *, solved: bool) -> Path:
    """A student's copy of the first lesson."""
    for path in filter(Path.is_file, RELEASE.iterdir()):  # no .ipynb_checkpoints
        shutil.copy(path, folder)
    path = folder / "add_and_model.ipynb"
    if solved:
        release, master = (
            json.loads(p.read_text()) for p in (path, ROOT / "solutions" / RELEASE.name / path.name)
        )
        answers = {
            found["id"]: found["source"]
            for found in master["cells"]
            if found["metadata"].get("nbgrader", {}).get("solution")
        }
        for made in release["cells"]:
            made["source"] = answers.get(made["id"], made["source"])
        path.write_text(json.dumps(release))
    return path


def test_that_nothing_confines_it_is_said_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "mine.ipynb"
    cells = [cell("open('ran', 'w').close()"), *double("right", "def right(x):\n    return 2 * x")]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    ran = tmp_path / "ran"
    said: list[str] = []

    def warn(text: str) -> None:
        said.append(text)
        assert not ran.exists()

    checking.check(path, None, lambda _: None, warn=warn)
    assert ran.exists()
    assert [MEANING["D"] in text for text in said] == [True]


@pytest.mark.parametrize(("solved", "code"), [(True, 3), (False, 1)])
def test_a_students_copy_of_the_lesson(
    solved: bool, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = student(tmp_path, solved=solved)
    before = path.read_bytes()
    assert main(["check", str(path), "--json"]) == code
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert err.startswith("note: the notebook runs as when you run it yourself (not contained: ")
    assert len(err.splitlines()) == 1
    assert result["notes"] == []
    assert {r["verdict"] for r in result["exercises"]} == {"passed" if solved else "failed"}
    assert {r["mistake"] for r in result["exercises"]} == {None if solved else "todo"}
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"{}", "holds no cells"),
        (b'{"cells": [{"cell_type": "code", "source": "1 + 1"}]}', "no checks in it"),
        (b'{"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [3]}]}', "no"),
    ],
)
def test_what_is_no_notebook_with_checks(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "strange.ipynb"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "strange.ipynb" in err
    assert len(err.splitlines()) == 1
    assert says in err


def test_a_named_course_without_masters_is_an_error_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = student(tmp_path, solved=False)
    assert main(["check", str(path), "--course", str(tmp_path)]) == 2
    assert "no folder `solutions`" in capsys.readouterr().err
