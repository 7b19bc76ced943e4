"""`autograder build`: a good master is released, each kind of bad one refused by name."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course import Course, CourseError
from autograder.desk import first_page, proofs, release
from autograder.engine import Worker

pytestmark = pytest.mark.usefixtures("kept_workers")
ROOT = Path(__file__).resolve().parent.parent
Notebook = dict[str, Any]

SETUP = "import torch\nfrom autograder.lab import Draw, Todo, expect"
ANSWER = """# TODO: double a number.
def double(x):
    ### BEGIN SOLUTION
    # Why: twice is two times.
    return 2 * x
    ### END SOLUTION
"""
CHECK = """### BEGIN HIDDEN TESTS
_draw = Draw()
_a = _draw(2)
### END HIDDEN TESTS
expect(lambda: double(3), 6, "double(3)", mistakes={"squared": 9})
### BEGIN HIDDEN TESTS
expect(lambda: double(_a.clone()), 2 * _a, "double of a tensor")
### END HIDDEN TESTS"""
HINTS = "\n".join(f"<details><summary>Hint {n}: look</summary>x</details>" for n in (1, 2, 3))
SENTENCES = '[squared]\nsays = "That is the square."\n'


def cell(grade_id: str, source: str, **what: Any) -> dict[str, Any]:
    kind = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    tags = {"tags": ["raises-exception"]} if what else {}
    return {
        "cell_type": "code",
        "id": grade_id,
        "metadata": {"nbgrader": {**kind, **what, "grade_id": grade_id}, **tags},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def good() -> Notebook:
    return {
        "cells": [
            cell("given_setup", SETUP),
            cell("double_answer", ANSWER, solution=True, locked=False),
            cell("double", CHECK, grade=True, points=5),
            {"cell_type": "markdown", "id": "hints", "metadata": {}, "source": HINTS},
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as running:
        yield running


def course(tmp_path: Path, notebook: Notebook, sentences: str = SENTENCES) -> Course:
    folder = tmp_path / "solutions" / "01_double"
    folder.mkdir(parents=True)
    (folder / "double.ipynb").write_text(json.dumps(notebook))
    (folder / "mistakes.toml").write_text(sentences)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return Course(tmp_path)


def test_a_good_master_is_released_the_same_each_time(tmp_path: Path, worker: Worker) -> None:
    made = course(tmp_path, good())
    assert proofs.findings(made.master("01_double"), worker) == []
    files = release.build(made, "01_double")
    assert files == release.build(made, "01_double")
    text = files["double.ipynb"].decode()
    assert "return 2 * x" not in text
    assert "a tensor" not in text
    assert "raise Todo  # replace this line with your code" in text
    assert release.differing(made, "01_double", files) == [
        "notebooks/01_double/double.ipynb",
        "notebooks/01_double/mistakes.toml",
    ]
    release.write(made, "01_double", files)
    assert release.differing(made, "01_double", files) == []
    (tmp_path / "notebooks/01_double/strange.txt").write_text("x")
    assert release.differing(made, "01_double", files) == ["notebooks/01_double/strange.txt"]


def change(name: str, old: str, new: str) -> Callable[[Notebook], None]:
    def do(notebook: Notebook) -> None:
        (found,) = [cell for cell in notebook["cells"] if cell["id"] == name]
        assert old in found["source"]
        found["source"] = found["source"].replace(old, new)

    return do


def metadata(name: str, **what: Any) -> Callable[[Notebook], None]:
    def do(notebook: Notebook) -> None:
        (found,) = [cell for cell in notebook["cells"] if cell["id"] == name]
        tags = what.pop("tags", None)
        if tags is not None:
            found["metadata"]["tags"] = tags
        found["metadata"]["nbgrader"].update(what)

    return do


def duplicate(notebook: Notebook) -> None:
    notebook["cells"].append({**notebook["cells"][0], "id": "another"})


REFUSED = {
    "no TODO": (change("double_answer", "# TODO: double a number.\n", ""), "no TODO"),
    "no why": (change("double_answer", "    # Why: twice is two times.\n", ""), "no why"),
    "two hints": (change("hints", "Hint 3", "Tip 3"), "three hints"),
    "no points": (metadata("double", points=0), "points"),
    "no tag": (metadata("double", tags=[]), "raises-exception"),
    "given not locked": (metadata("given_setup", locked=False), "locked"),
    "id twice": (duplicate, "the id is there 2 times"),
    "no answer": (metadata("double_answer", grade_id="else_answer"), "no answer cell"),
    "no solution": (
        change("double_answer", "### BEGIN SOLUTION", "# begin the solution"),
        "misspelt|don't pair up",
    ),
    "hidden tests visible": (
        change("double", "### BEGIN HIDDEN TESTS\nexpect", "expect"),
        "don't pair up",
    ),
    "mark misspelt": (
        change("double", "### BEGIN HIDDEN TESTS", "## BEGIN HIDDEN TEST"),
        "misspelt",
    ),
    "mark in prose": (change("hints", "x", "\n### BEGIN HIDDEN TESTS\n"), "learners would see"),
    "no hidden tests": (
        lambda notebook: notebook["cells"][2].update(source="expect(lambda: double(3), 6, 'x')"),
        "no hidden tests",
    ),
    "solution wrong": (change("double_answer", "2 * x", "3 * x"), "does not pass its own check"),
    "solution fails": (change("double_answer", "2 * x", "2 * y"), "does not pass its own check"),
    "unsolved earns": (
        lambda notebook: notebook["cells"][2].update(
            source=CHECK.replace("double(3)", "3 + 3").replace("double(_a.clone())", "_a + _a")
        ),
        "earns 5 points unsolved",
    ),
    "guessable": (change("double", "2 * _a", "[2.0, 2.0]"), "does not pass"),
    "never changes": (
        change("double", "lambda: double(_a.clone()), 2 * _a", "lambda: double(5), 10"),
        "changes with the inputs",
    ),
    "no sentence": (change("double", '"squared"', '"unheard_of"'), "'unheard_of' has no sentence"),
    "mistake is right": (change("double", "9}", "6}"), "'squared' is the right value"),
    "not plain": (
        change("double", "2 * _a, ", "(2 * _a).shape, "),
        "exact types",
    ),
    "check fails": (change("double", "_a = _draw(2)", "_a = _draw(2) / None"), "TypeError"),
    "rule": (change("double", "lambda: double(3), 6", "double(3) == 6, True"), "comparison"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_bad_master_is_refused_by_name(fault: str, tmp_path: Path, worker: Worker) -> None:
    spoil, says = REFUSED[fault]
    notebook = good()
    spoil(notebook)
    found = proofs.findings(course(tmp_path, notebook).master("01_double"), worker)
    assert any(re.search(says, line) for line in found), found


def test_sentences_that_no_check_uses_are_named(tmp_path: Path, worker: Worker) -> None:
    made = course(tmp_path, good(), SENTENCES + '[stale]\nsays = "Nobody says this."\n')
    assert "[stale] is used by no check" in " ".join(
        proofs.findings(made.master("01_double"), worker)
    )


def test_a_broken_table_of_sentences_is_named(tmp_path: Path, worker: Worker) -> None:
    made = course(tmp_path, good(), "[squared]\nsay = 1\n")
    (finding,) = proofs.findings(made.master("01_double"), worker)
    assert "mistakes.toml" in finding
    assert "squared" in finding


def test_what_nbgrader_refuses_is_said(tmp_path: Path) -> None:
    notebook = good()
    metadata("double", points=-1, grade_id="not allowed !")(notebook)
    with pytest.raises(CourseError, match="nbgrader can't release it"):
        release.build(course(tmp_path, notebook), "01_double")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = course(tmp_path, good())
    (made.solutions / "README.md").write_text("# Hello\n")
    page = tmp_path / "notebooks" / "README.md"
    arguments = ["build", "--course", str(tmp_path)]
    assert main([*arguments, "--check"]) == 1
    assert not (tmp_path / "notebooks").exists()
    assert main(arguments) == 0
    assert page.read_text() == "# Hello\n"
    assert main([*arguments, "--check"]) == 0
    page.write_text("")
    capsys.readouterr()
    assert main([*arguments, "--check"]) == 1
    assert "notebooks/README.md differs from its master" in capsys.readouterr().out
    change("double", "9}", "6}")(notebook := good())
    (made.solutions / "01_double" / "double.ipynb").write_text(json.dumps(notebook))
    before = (tmp_path / "notebooks/01_double/double.ipynb").read_bytes()
    assert main(arguments) == 2
    assert (tmp_path / "notebooks/01_double/double.ipynb").read_bytes() == before
    assert "double.ipynb: exercise 'double'" in capsys.readouterr().err


def test_somebodys_work_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course(tmp_path, good())
    arguments = ["build", "--course", str(tmp_path)]
    assert main(arguments) == 0
    path = tmp_path / "notebooks/01_double/double.ipynb"
    stub = "raise Todo  # replace this line with your code"
    path.write_text(path.read_text().replace(stub, "return x + x"))
    assert main(arguments) == 2
    assert "return x + x" in path.read_text()
    assert "'double_answer'" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert "return x + x" not in path.read_text()


def test_the_first_page_lists_the_lessons(tmp_path: Path) -> None:
    notebook = good()
    title = {"cell_type": "markdown", "id": "title", "metadata": {}}
    notebook["cells"].insert(0, {**title, "source": "# Twice\n\nPlan 5 to 10 minutes.\n## More"})
    made = course(tmp_path, notebook)
    assert first_page.make(made) is None
    (made.solutions / "README.md").write_text("# Hello\n\n<!-- lessons -->\n")
    page = first_page.make(made)
    assert page is not None
    assert page.decode().splitlines()[-1] == (
        "| 1 | [Twice](01_double/double.ipynb) | 1 | 5 | 5 to 10 minutes |"
    )


def test_the_courses_own_release_is_up_to_date() -> None:
    assert main(["build", "--check", "--course", str(ROOT)]) == 0


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("solutions/*/*.ipynb"), *ROOT.glob("notebooks/*/*.ipynb")]),
    ids=lambda path: path.parts[-3],
)
def test_masters_and_releases_hold_no_outputs(path: Path) -> None:
    for found in json.loads(path.read_text())["cells"]:
        assert not found.get("outputs")
        assert not found.get("execution_count")
