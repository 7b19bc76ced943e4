"""Masters and their rules, damaged notebooks, and the plan that is made of them."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions
from traitlets.config import Config

from autograder.course import (
    Cell,
    Course,
    CourseError,
    Master,
    NotebookError,
    Plan,
    check_master,
    read_cells,
    read_master,
    rebuild,
    recognise,
    reference_plan,
    strip,
)
from autograder.course import notebook as notebooks
from autograder.course.check_rules import check_cell_findings
from autograder.course.master import STUB
from autograder.course.notebook import parse_cells

# --- a small master ------------------------------------------------------------------------------

SETUP = "import torch\nfrom autograder.lab import Draw, Todo, expect"
CLASSES = "class Add:\n    pass\n\n\nanswer = []"
ANSWER = """# TODO: store x1 in the list `answer`.
def {name}(module, input):
    ### BEGIN SOLUTION
    # Why: the tuple holds what was passed.
    answer.append(input[0])
    ### END SOLUTION


# Try it: nothing to change below.
answer.clear()"""
CHECK = """### BEGIN HIDDEN TESTS
_draw = Draw()
_a, _b = _draw(4), _draw(2, 3)
### END HIDDEN TESTS
def _stored(a):
    answer.clear()
    {name}(None, (a,))
    return answer


expect(lambda: _stored(torch.tensor([2.0])), [torch.tensor([2.0])], "answer")
### BEGIN HIDDEN TESTS
for _x in (_a, _b):
    expect(lambda: _stored(_x.clone()), [_x], "new inputs", mistakes={{"secret": [_x + 41973]}})
### END HIDDEN TESTS"""
HINTS = "\n\n".join(
    f"<details><summary>Hint {n}: words</summary>\n\nMore words.\n\n</details>" for n in (1, 2, 3)
)
NAMES = ("first_hook", "second_hook")


def code(source: str, grade_id: str = "", tags: tuple[str, ...] = (), **nbgrader: Any) -> Any:
    metadata: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if grade_id:
        kinds = {"grade": False, "solution": False, "locked": False, "task": False}
        metadata["nbgrader"] = {"schema_version": 3, "grade_id": grade_id, **kinds, **nbgrader}
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": []}


def text(source: str) -> Any:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def given_cell(source: str, grade_id: str) -> Any:
    return code(source, grade_id, locked=True)


def exercise(name: str, points: float = 4) -> list[Any]:
    safe = ("raises-exception",)
    return [
        code(ANSWER.format(name=name), f"{name}_answer", safe, solution=True),
        code(CHECK.format(name=name), name, safe, grade=True, locked=True, points=points),
        text(HINTS),
    ]


def lesson() -> list[Any]:
    return [
        text("# Title"),
        given_cell(SETUP, "given_setup"),
        given_cell(CLASSES, "given_classes"),
        *exercise(NAMES[0]),
        text("More."),
        *exercise(NAMES[1]),
    ]


def write(path: Path, cells: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}), "utf-8"
    )
    return path


def master_of(folder: Path, cells: list[Any] | None = None, name: str = "01_test") -> Master:
    path = folder / "solutions" / name / "lesson.ipynb"
    return read_master(write(path, lesson() if cells is None else cells))


@pytest.fixture(scope="session")
def master(tmp_path_factory: pytest.TempPathFactory) -> Master:
    return master_of(tmp_path_factory.mktemp("course"))


def released(master: Master) -> list[Cell]:
    """The notebook as a learner gets it."""
    return [Cell(c.release, c.is_code, c.grade_id or None) for c in master.cells]


def answered(name: str = NAMES[0], body: str = "answer.append(input[0])") -> str:
    return f"def {name}(module, input):\n    {body}\n"


# --- masters -------------------------------------------------------------------------------------


def test_a_master_is_read(master: Master) -> None:
    assert (master.lesson, master.name, master.max_score) == ("01_test", "lesson", 8)
    assert [exercise.id for exercise in master.exercises] == list(NAMES)
    first = master.exercises[0]
    assert first.answer is not None
    assert first.answer.grade_id == "first_hook_answer"
    assert "Why: the tuple" in first.answer.solution
    kinds = ["prose", "given", "given", "answer", "check", "prose", "prose", "answer", "check"]
    assert [cell.kind for cell in master.cells] == [*kinds, "prose"]
    assert master.sentences == master.path.parent / "mistakes.toml"


def test_a_release_holds_no_solution_and_no_hidden_test(master: Master) -> None:
    for cell in master.cells:
        assert "append" not in cell.release
        assert "HIDDEN" not in cell.release
        assert "SOLUTION" not in cell.release
        assert "41973" not in cell.release
        if cell.kind == "answer":
            assert f"    {STUB}\n" in cell.release
            assert "TODO" in cell.release


def test_a_release_is_what_nbgrader_makes_of_it(master: Master) -> None:
    notebook = nbformat.read(master.path, as_version=4)
    config = Config()
    config.ClearSolutions.code_stub = {"python": STUB}
    for preprocessor in (ClearSolutions(config=config), ClearHiddenTests()):
        notebook, _ = preprocessor.preprocess(notebook, {})
    ours = [cell.release.strip() for cell in master.cells]
    assert ours == [cell.source.strip() for cell in notebook.cells]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"cells": 1}',
        '{"cells": [1]}',
        '{"cells": [{"cell_type": "code", "metadata": {}}]}',
        '{"cells": [{"cell_type": "code", "source": 5}]}',
        '{"cells": [{"cell_type": "code", "source": [5]}]}',
        '{"cells": [{"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade": 1}}}]}',
        '{"cells": [{"cell_type": "code", "source": "", "metadata": '
        '{"nbgrader": {"grade": 1, "grade_id": "a", "points": null}}}]}',
    ],
)
def test_an_unreadable_master_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text(content)
    with pytest.raises(CourseError, match=r"broken\.ipynb"):
        read_master(path)


def test_a_course_finds_its_lessons(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="--course"):
        Course(tmp_path)
    master_of(tmp_path, name="02_b")
    master_of(tmp_path, name="01_a")
    (tmp_path / "solutions" / "empty").mkdir()
    (tmp_path / "solutions" / ".ipynb_checkpoints").mkdir()
    course = Course(tmp_path)
    assert course.lessons() == ["01_a", "02_b"]
    assert [master.lesson for master in course.masters()] == ["01_a", "02_b"]
    assert Course.around(tmp_path / "solutions" / "01_a").root == tmp_path
    with pytest.raises(CourseError, match="01_a, 02_b"):
        course.master("03_c")
    write(tmp_path / "solutions" / "01_a" / "another.ipynb", [])
    with pytest.raises(CourseError, match="2 notebooks"):
        course.master("01_a")
    assert course.master("01_a", "another").name == "another"
    with pytest.raises(CourseError, match=r"no third\.ipynb; .*: another\.ipynb, lesson\.ipynb"):
        course.master("01_a", "third")
    names = [(master.lesson, master.name) for master in course.masters()]
    assert names == [("01_a", "another"), ("01_a", "lesson"), ("02_b", "lesson")]


def test_other_courses_call_the_folder_otherwise(tmp_path: Path) -> None:
    master_of(tmp_path, name="hw")
    (tmp_path / "solutions").rename(tmp_path / "source")
    assert Course(tmp_path, "source").master("hw").name == "lesson"
    with pytest.raises(CourseError, match="no folder `masters`"):
        Course(tmp_path, "masters")


def test_an_answer_without_marks_is_all_solution(tmp_path: Path) -> None:
    cells = lesson()
    answer = cells[3]
    answer["source"] = "def first_hook(module, input):\n    answer.append(input[0])\n"
    master = master_of(tmp_path, cells)
    assert master.cells[3].release == STUB
    without = [cell for cell in released(master) if cell.grade_id != "first_hook_answer"]
    plan = {cell.id: cell.source for cell in rebuild(master, without).cells}
    assert plan["first_hook_answer"] == STUB


def test_a_text_with_points_is_for_people(tmp_path: Path) -> None:
    essay = text("Say it.")
    essay["metadata"] = {"nbgrader": {"grade": True, "grade_id": "said", "points": 5}}
    master = master_of(tmp_path, [*lesson(), essay])
    assert master.max_score == 8
    assert [exercise.id for exercise in master.exercises] == list(NAMES)


# --- the rules for masters -----------------------------------------------------------------------


def test_the_small_master_keeps_all_rules(master: Master) -> None:
    assert check_master(master) == []


Break = Callable[[list[Any]], None]


def metadata(place: int, **change: Any) -> Break:
    return lambda cells: cells[place]["metadata"]["nbgrader"].update(change)


def source(place: int, old: str, new: str) -> Break:
    def change(cells: list[Any]) -> None:
        assert old in cells[place]["source"]
        cells[place]["source"] = cells[place]["source"].replace(old, new)

    return change


def drop(place: int, key: str = "") -> Break:
    return lambda cells: cells[place]["metadata"].pop(key) if key else cells.pop(place)


ANSWER_AT, CHECK_AT, HINTS_AT = 3, 4, 5

BROKEN: list[tuple[str, str, Break]] = [
    ("'given_setup': the id is there 2 times", "", metadata(2, grade_id="given_setup")),
    ("'given_classes': code that is no answer must be locked", "", metadata(2, locked=False)),
    ("'cell_3': code that is no answer must be locked", "", drop(2, "nbgrader")),
    ("'first_hook': lock it", "", metadata(CHECK_AT, locked=False)),
    ("'first_hook': add the tag", "", drop(CHECK_AT, "tags")),
    ("'first_hook_answer': add the tag", "", drop(ANSWER_AT, "tags")),
    ("give its check cell points", "first_hook", metadata(CHECK_AT, points=0)),
    ("no answer cell; add one with", "first_hook", drop(ANSWER_AT)),
    ("does not define `first_hook`", "first_hook", source(ANSWER_AT, "def first", "def third")),
    ("no why", "first_hook", source(ANSWER_AT, "Why:", "Because")),
    ("no TODO", "first_hook", source(ANSWER_AT, "TODO:", "Do")),
    ("needs three hints", "first_hook", drop(HINTS_AT)),
    ("needs three hints", "first_hook", source(HINTS_AT, "Hint 2", "Tip 2")),
    ("needs three hints", "first_hook", source(HINTS_AT, "Hint 2", "Hint 3")),
    ("shows learners no test", "first_hook", source(CHECK_AT, "\nexpect", "\n# expect")),
    ("misspelt", "first_hook", source(CHECK_AT, "# END HIDDEN TESTS", "# END HIDDEN TEST")),
    ("misspelt", "first_hook", source(CHECK_AT, "### BEGIN HIDDEN", "## BEGIN HIDDEN")),
    ("misspelt", "first_hook", source(CHECK_AT, "### BEGIN HIDDEN", "### Begin hidden")),
    (
        "misspelt",
        "first_hook",
        source(CHECK_AT, "_draw = Draw()", "_draw = Draw()  # END SOLUTION"),
    ),
    ("misspelt", "first_hook_answer", source(ANSWER_AT, "END SOLUTION", "End Solution")),
    ("don't pair up", "first_hook", source(CHECK_AT, "### END HIDDEN TESTS", "")),
    ("don't pair up", "first_hook_answer", source(ANSWER_AT, "    ### END SOLUTION", "")),
    (
        "marks are not cut from this kind",
        "given_classes",
        source(2, "answer = []", "### BEGIN SOLUTION\nanswer = []\n### END SOLUTION"),
    ),
    (
        "marks are not cut from this kind",
        "first_hook",
        source(CHECK_AT, "_draw = Draw()", "### BEGIN SOLUTION\n_draw = Draw()\n### END SOLUTION"),
    ),
    ("marks are not cut", "a text cell", source(0, "# Title", "### BEGIN HIDDEN TESTS")),
    (
        "has no '### BEGIN SOLUTION' region",
        "first_hook",
        lambda cells: cells[ANSWER_AT].update(source=f"# TODO: x\n{answered()}"),
    ),
    (
        "has no hidden tests",
        "first_hook",
        source(CHECK_AT, "HIDDEN TESTS", "hidden as such"),
    ),
]


@pytest.mark.parametrize(("finding", "named", "change"), BROKEN)
def test_a_broken_rule_is_found_and_its_cell_named(
    finding: str, named: str, change: Break, tmp_path: Path
) -> None:
    cells = lesson()
    change(cells)
    findings = check_master(master_of(tmp_path, cells))
    found = [line for line in findings if finding in line]
    assert found, findings
    assert named in found[0]
    assert all(line.startswith(("cell ", "exercise ", "a text cell")) for line in findings)


def test_an_empty_lesson_is_refused(tmp_path: Path) -> None:
    assert check_master(master_of(tmp_path, [])) == ["the lesson has no check cell"]


@pytest.mark.parametrize(
    ("place", "addition"),
    [
        (0, "\n\n## At the end: test yourself\n\n### Begin"),
        (2, "\n# This is where the test begins, and where a solution would end."),
        (ANSWER_AT, "\n# Your solution ends here; the tests follow."),
        (CHECK_AT, "\n# In the end, tests are code too."),
    ],
)
def test_words_that_are_no_marks_are_left_alone(place: int, addition: str, tmp_path: Path) -> None:
    cells = lesson()
    cells[place]["source"] += addition
    assert check_master(master_of(tmp_path, cells)) == []


# --- the rules for check cells -------------------------------------------------------------------

GIVEN = [SETUP, CLASSES, "%matplotlib inline\nfrom torch import nn\nimport os.path as path\nv = 1"]
HEAD = """_draw = Draw()
_a, _b = _draw(4), _draw(4)
def _run(x):
    answer.clear()
    add = Add()
    hook(add, x)
    return answer
"""


def findings(cell: str) -> list[str]:
    return check_cell_findings(HEAD + cell, "hook", GIVEN)


LEGAL = [
    "expect(_run(_a.clone()), _a, 'it')",
    "expect(lambda: _run(_a.clone()), [_a, _b], '', mistakes={'x': [_b]}, accepted={'y': _a * 2})",
    "for _i in range(3):\n    expect(_run(_a), _a, 'it')",
    "for _i in range(0, 6, -2):\n    expect(_run(_a), _a, 'it')",
    "for _x in (_a, _b):\n    expect(lambda: _run(_x.clone()), _x, 'it')",
    "for _x, _y in ((_a, _b), (_b, _a)):\n    expect(lambda: _run([_x, _y]), [_x, _y], 'it')",
    "for _x, _y in zip((_a, _b), [_b, _a], strict=True):\n    expect([_run(_x), _y], [_x, _y], '')",
    "for _i, _x in enumerate((_a, _b), 1):\n    expect(_run(_x) * _i, _x, 'it')",
    "for _x in (_a, _b):\n    for _y in (_a, _b):\n        expect(_run(_x + _y), _x + _y, 'it')",
    "with torch.no_grad():\n    expect(_run(_a), _a, 'it')",
    "for _x in (_a, _b):\n    def _in(y):\n        return _run(y)\n    expect(_in(_x), _x, 'it')",
    "def _give():\n    return _run(_a)\nexpect(_give, _a, 'it')",
    "expect(_run(_a), [v * 2 for v in _a], 'it')",
    "expect(_run(_a), sorted(_a, key=lambda pair: -pair), 'it')",
    "_c, (_d, _e) = _draw(1), (_draw(2), _a.clone())\nexpect(_run(_a), [_c, _d, _e], 'it')",
    "_c = _d = _draw(1)\nexpect(_run(_a), _c + _d, 'it')",
    "_c: object = _draw(1)\nexpect(_run(_a), _c, 'it')",
    "_c, _d = [_draw(1) for _ in range(2)]\nexpect(_run(_a), _c + _d, 'it')",
    "_c = answer[0].detach().clone()\nexpect(_run(_a), _c, 'it')",
    "_other = Draw()\n_c = _other(2)\nexpect(_run(_a), _c, 'it')",
    "expect(_run(_a), torch.add(_a, _b).sum().detach(), 'it')",
    "expect([t for t in _run(_a) if t > 0], _a, 'it')",
    "expect(_run(_a)[0] if len(answer) else None, _a, 'it')",
    "expect(_run(nn.Module()), path.join('a'), 'it')",
    "_counts = [len(_run(_a))]\nexpect(_counts, [1], 'it')",
    "def _g(want):\n    return _run(want)\nexpect(_g(_a), _a, 'it')",
]


@pytest.mark.parametrize("cell", LEGAL)
def test_a_legal_check_cell(cell: str) -> None:
    assert findings(cell) == []


OK = "\nexpect(_run(_a), _a, 'it')"
ILLEGAL = [
    # number and order of calls
    ("only: the number of calls", "if answer:\n    expect(_run(_a), _a, 'it')"),
    ("only: the number of calls", "while answer:\n    expect(_run(_a), _a, 'it')"),
    ("only: the number of calls", "try:\n    expect(_run(_a), _a, 'it')\nfinally:\n    pass"),
    ("only: the number of calls", "[expect(x, x, 'it') for x in (_a, _b)]"),
    ("only: the number of calls", "def f():\n    expect(_run(_a), _a, 'it')\nf()"),
    ("only: the number of calls", "f = lambda: expect(_run(_a), _a, 'it')"),
    ("only: the number of calls", "for x in answer:\n    expect(x, _a, 'it')"),
    ("only: the number of calls", "for x in range(len(answer)):\n    expect(_run(_a), _a, 'it')"),
    ("only: the number of calls", "for x in (_a, *answer):\n    expect(_run(_a), _a, 'it')"),
    (
        "only: the number of calls",
        "for x in zip((_a, _b), answer):\n    expect(_run(_a), _a, 'it')",
    ),
    ("only: the number of calls", "for x in (_a, _b):\n    expect(_run(_a), _a, 'it')\n    break"),
    (
        "only: the number of calls",
        "for x in (_a,):\n    expect(_run(_a), _a, 'i')\nelse:\n    _run(_a)",
    ),
    (
        "only: the number of calls",
        "for x in (_a, _b):\n    if answer:\n        continue\n    expect(_run(_a), _a, 'it')",
    ),
    ("only: the number of calls", "x = expect(_run(_a), _a, 'it')"),
    ("only: the number of calls", "answer and expect(_run(_a), _a, 'it')"),
    (
        "only: the number of calls",
        "match answer:\n    case []:\n        expect(_run(_a), _a, 'it')",
    ),
    # forms
    ("no plain Python (line 9)", "\n%timeit _run(_a)" + OK),
    ("no plain Python (line 8)", "def f(:" + OK),
    ("never calls expect", "_run(_a)"),
    ("no := in a check cell", "expect((c := _run(_a)), _a, 'it')"),
    ("no await", "await _run(_a)" + OK),
    ("no await", "async def f():\n    pass" + OK),
    ("no await", "expect([x async for x in _run(_a)], _a, 'it')"),
    ("`expect` is bound", "expect = print" + OK),
    ("`expect` is bound", "def expect(*x):\n    pass" + OK),
    ("`expect` is bound", "class expect:\n    pass" + OK),
    ("`expect` is bound", "def f(expect):\n    pass" + OK),
    ("`expect` is bound", "del expect" + OK),
    ("`expect` is bound", "for expect in (_a,):\n    pass" + OK),
    ("`expect` is bound", "try:\n    pass\nexcept E as expect:\n    pass" + OK),
    ("`expect` is imported", "from autograder.lab import expect" + OK),
    ("`expect` is imported", "import other as expect" + OK),
    ("`expect` is imported", "from autograder.lab import *" + OK),
    ("used without being called", "e = expect" + OK),
    ("used without being called", "_run(expect)" + OK),
    ("without * or **", "expect(*_a, 1, 'it')"),
    ("without * or **", "expect(_run(_a), _a, 'it', **_b)"),
    ("in this order", "expect(_run(_a), _a)"),
    ("in this order", "expect(_run(_a), expected=_a, what='it')"),
    ("in this order", "expect(_run(_a), _a, 'it', {})"),
    ("in this order", "expect(_run(_a), _a, 'it', note='x')"),
    ("an expect inside an expect", "expect(expect(_run(_a), _a, 'it'), _a, 'it')"),
    ("an expect inside an expect", "expect(lambda: expect(_run(_a), _a, 'it'), _a, 'it')"),
    # inputs
    ("make Draw() at the top", "expect(_run(_a), _a, 'it')\nlate = Draw()"),
    ("make Draw() at the top", "_run(hook(_a))\nlate = Draw()" + OK),
    ("make Draw() at the top", "def f():\n    return Draw()(1)" + OK),
    ("draw nothing", "expect(_run(_a), Draw(), 'it')"),
    ("draw inputs with Draw()", "c = torch.rand(3)\nexpect(_run(c), c, 'it')"),
    ("draw inputs with Draw()", "torch.manual_seed(1)" + OK),
    # the value
    ("not the result of a comparison", "expect(_run(_a) == _a, True, 'it')"),
    ("not the result of a comparison", "expect(lambda: _run(_a) is None, True, 'it')"),
    ("not the result of a comparison", "expect(not _run(_a), True, 'it')"),
    ("not the result of a comparison", "expect(_run(_a) or _a, True, 'it')"),
    ("not the result of a comparison", "expect(torch.equal(_run(_a), _a), True, 'it')"),
    ("not the result of a comparison", "expect(torch.allclose(_run(_a), _a), True, 'it')"),
    ("not the result of a comparison", "expect((_run(_a) == _a).all(), True, 'it')"),
    ("not the result of a comparison", "expect(isinstance(_run(_a), list), True, 'it')"),
    ("not the result of a comparison", "expect(all(_run(_a)), True, 'it')"),
    ("not the result of a comparison", "expect([_run(_a), _a == _b], [_a, True], 'it')"),
    ("not the result of a comparison", "expect({'x': _a == _b}, {'x': True}, 'it')"),
    ("not the result of a comparison", "expect(int(_a == _b), 1, 'it')"),
    ("not the result of a comparison", "expect(_run(_a) if _a else _a == _b, _a, 'it')"),
    ("not the result of a comparison", "def f():\n    return _a == _b\nexpect(f, True, 'it')"),
    ("not the result of a comparison", "def f():\n    return _a == _b\nexpect(f(), True, 'it')"),
    (
        "not the result of a comparison",
        "def f():\n    return _a == _b\nexpect(lambda: f(), True, 'it')",
    ),
    # expected values
    ("don't come from `answer`", "expect(_run(_a), answer, 'it')"),
    ("don't come from `hook`", "expect(_run(_a), hook(_a), 'it')"),
    ("don't come from `_run`", "expect(_run(_a), _run(_a), 'it')"),
    ("don't come from `_run`", "expect(_run(_a), _a, 'it', mistakes={'x': _run(_b)})"),
    ("draw nothing", "expect(_run(_a), _draw(1), 'it')"),
    ("draw nothing", "other = Draw()\nexpect(_run(_a), _a, 'it', accepted={'x': other(1)})"),
    ("don't call the module `add`", "add = Add()\nexpect(_run(add), add(_a), 'it')"),
    ("`add_` changes something", "expect(_run(_a), _a.add_(1), 'it')"),
    ("`append` changes something", "l = []\nexpect(_run(l), l.append(1), 'it')"),
    ("`backward` changes something", "expect(_run(_a), _a.sum().backward(), 'it')"),
    ("`next` changes something", "i = iter((_a, _b))\nexpect(_run(i), next(i), 'it')"),
    # names
    ("reads second_hook:", "expect(second_hook(_a), _a, 'it')"),
    ("reads add, x1:", "expect(add(x1), _a, 'it')"),
    ("reads v:", "expect(_run(v), _a, 'it')"),
    ("reads math:", "import math\nexpect(_run(math.pi), _a, 'it')"),
    ("`want` is used only for expected", "want = _a + _b\nexpect(_run(_a), want, 'it')"),
    ("`want` is used only for expected", "want = (_a + _b).clone()\nexpect(_run(_a), want, 'it')"),
    (
        "`want` is used only for expected",
        "want = _a.clone()\nwant += _b\nexpect(_run(_a), want, 'i')",
    ),
    ("`want` is used only for expected", "want: object = _a * 2\nexpect(_run(_a), want, 'it')"),
    (
        "`want` is used only for expected",
        "c, want = _draw(1), _a + _b\nexpect(_run(_a), want, 'it')",
    ),
    (
        "`want` is used only for expected",
        "def want(x):\n    return x\nexpect(_run(_a), want(_a), 'i')",
    ),
    (
        "`want` is used only for expected",
        "for x, want in ((_a, 5),):\n    expect(_run(x), want, 'i')",
    ),
    (
        "`want` is used only for expected",
        "with _run(_a) as want:\n    expect(_run(_a), want, 'it')",
    ),
    (
        "`want` is used only for expected",  # a local of that name is another name
        "want = _a + _b\ndef g(want):\n    return _run(want)\nexpect(g(_a), want, 'it')",
    ),
]


@pytest.mark.parametrize(("finding", "cell"), ILLEGAL)
def test_an_illegal_check_cell(finding: str, cell: str) -> None:
    found = findings(cell)
    assert any(finding in line for line in found), found


def test_a_finding_of_a_check_cell_names_its_exercise(tmp_path: Path) -> None:
    cells = lesson()
    cells[CHECK_AT]["source"] += "\nif answer:\n    expect(_stored(_a), _a, 'it')"
    (found,) = check_master(master_of(tmp_path, cells))
    assert found.startswith("exercise 'first_hook': call expect at the top level")


# --- strip ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "stripped"),
    [
        ("expect(f(a), a + 1, 'it', mistakes={'x': b})", "expect(f(a))"),
        ("expect(lambda: f(a), secret)", "expect(lambda: f(a))"),
        ("expect(actual=f(a), expected=secret)", "expect(f(a))"),
        ("for x in (a, b):\n    expect(x, secret, 'it')", "for x in (a, b):\n    expect(x)"),
        ("def f():\n    expect(x, secret, 'it')", "def f():\n    expect(x)"),
        ("x = [lambda: expect(x, secret, 'it')]", "x = [lambda: expect(x)]"),
        ("f(expect(x, secret), y)", "f(expect(x), y)"),
        ("# secret\nx = 1  # secret", "x = 1"),
        ("expected(a, 1)", "expected(a, 1)"),
        ("a.expect(1, 2)", "a.expect(1, 2)"),
        ("assert x == 1", "assert x == 1"),
    ],
)
def test_strip(source: str, stripped: str) -> None:
    assert strip(source) == stripped


def test_strip_of_all_legal_cells_leaves_one_argument_and_no_secret() -> None:
    for cell in LEGAL:
        calls = [
            node
            for node in ast.walk(ast.parse(strip(HEAD + cell)))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "expect"
        ]
        assert calls
        assert all(len(call.args) == 1 and not call.keywords for call in calls)


# --- reading a notebook file ---------------------------------------------------------------------


def as_bytes(content: Any) -> bytes:
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"not JSON", "not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00", "not JSON"),
        ('{"cells": []}'.encode("utf-16"), "not JSON"),
        (b'{"cells": [', "not JSON"),
        pytest.param(b"[" * 1_000_000, "not JSON", id="deep lists"),
        pytest.param(b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "not JSON", id="deep objects"),
        (b'{"cells": ' + b"1" * 10_000 + b"}", "not JSON"),
        (b"[]", "no notebook"),
        (b"5", "no notebook"),
        (b"null", "no notebook"),
        (b'"cells"', "no notebook"),
        (b"{}", "no cells"),
        (b'{"cells": null}', "no cells"),
        (b'{"worksheets": 1}', "no cells"),
        (b'{"worksheets": [1, {"cells": 1}]}', "no cells"),
        (b'{"cells": 1}', "no notebook"),
        (b'{"cells": {"a": 1}}', "no notebook"),
        (as_bytes({"cells": [{}] * 2_001}), "more than 2000 cells"),
        (as_bytes({"cells": [{"source": "x" * 200_001}]}), "longer than 200000"),
        (as_bytes({"cells": [{"source": ["x" * 99_999] * 3}]}), "longer than 200000"),
    ],
)
@pytest.mark.timeout(60)
def test_a_file_that_is_no_notebook_has_a_reason(data: bytes, complaint: str) -> None:
    with pytest.raises(NotebookError, match=complaint):
        parse_cells(data)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("start", "again", "end", "complaint"),
    [
        (b'{"cells": [], "x": [', b"[],", b"0]}", "more than 1000000 items"),
        (b'{"cells": [], "x": [', b'{"":0},', b"0]}", "more than 1000000 items"),
        (b"", b"[", b"", "more than 1000000 items"),
        (b"", b'{"":[],', b"", "more than 1000000 items"),
        (b'{"', b'\\"', b"", "not JSON"),
        (b"", b'"', b"", "not JSON"),
        (b'"', b"\\", b"", "not JSON"),
    ],
)
def test_a_large_file_of_nothing_is_refused_before_it_is_read(
    start: bytes, again: bytes, end: bytes, complaint: str
) -> None:
    data = start + again * (29_000_000 // len(again)) + end
    with pytest.raises(NotebookError, match=complaint):
        parse_cells(data)


def test_what_is_printed_are_no_items() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": '[1, 2, "[3"], ' * 500_000}
    cells = [{"cell_type": "code", "source": "x", "outputs": [printed]}]
    assert [cell.source for cell in parse_cells(as_bytes({"cells": cells}))] == ["x"]


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotebookError, match="No such file"):
        read_cells(tmp_path / "missing.ipynb")
    with pytest.raises(NotebookError, match="not a file"):
        read_cells(tmp_path)
    os.mkfifo(tmp_path / "pipe.ipynb")
    with pytest.raises(NotebookError, match="not a file"):
        read_cells(tmp_path / "pipe.ipynb")
    with pytest.raises(NotebookError, match="not a file"):
        read_cells(Path("/dev/zero"))
    monkeypatch.setattr(notebooks, "MAX_FILE", 1_000_000)
    (tmp_path / "large.ipynb").write_bytes(b" " * 1_000_001 + b"{}")
    with pytest.raises(NotebookError, match="larger than 1 MB"):
        read_cells(tmp_path / "large.ipynb")


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ({"cells": []}, []),
        ({"cells": [code("a")]}, [Cell("a", True)]),
        ({"cells": [text("a")]}, [Cell("a", False)]),
        ({"cells": [code("a", "id")]}, [Cell("a", True, "id")]),
        ({"cells": [{"cell_type": "code", "source": ["a\n", 5, None, "b"]}]}, [Cell("a\nb", True)]),
        (
            {"cells": [{"cell_type": "code", "source": 5}, {"source": "x"}]},
            [Cell("", True), Cell("x", False)],
        ),
        ({"cells": [1, None, [], "a", {"cell_type": ["code"]}]}, [Cell("", False)]),
        ({"cells": [{"cell_type": "code", "source": "a\r\nb"}]}, [Cell("a\nb", True)]),
        ({"cells": [{"cell_type": "code", "source": "a\ud800"}]}, [Cell("a?", True)]),
        ({"cells": [{"metadata": {"nbgrader": {"grade_id": 5}}}]}, [Cell("", False)]),
        ({"cells": [{"metadata": {"nbgrader": []}}, {"metadata": 1}]}, [Cell("", False)] * 2),
        (
            {
                "cells": [
                    text("a")
                    | {
                        "attachments": {
                            "p.png": {"image/png": ["iVBO", "Rw0="], "text/html": "iVBO"},
                            "q.svg": {"image/svg+xml": "iVBO"},
                            "r.png": {"image/png": 'x" onerror="alert(1)'},
                            "s.png": 5,
                        }
                    },
                    text("b") | {"attachments": ["p.png"]},
                    code("c") | {"attachments": {"p.png": {"image/png": "iVBO"}}},
                ]
            },
            [
                Cell("a", False, None, {"p.png": {"image/png": "iVBORw0="}}),
                Cell("b", False),
                Cell("c", True),
            ],
        ),
        (
            {  # nbformat 3
                "nbformat": 3,
                "worksheets": [
                    {"cells": [{"cell_type": "code", "input": "a", "language": "python"}]},
                    {"cells": [{"cell_type": "heading", "source": "b", "level": 1}]},
                ],
            },
            [Cell("a", True), Cell("b", False)],
        ),
    ],
)
def test_what_can_be_read_is_read(content: Any, cells: list[Cell], tmp_path: Path) -> None:
    for data in (as_bytes(content), b"\xef\xbb\xbf\n" + as_bytes(content)):
        (tmp_path / "n.ipynb").write_bytes(data)
        assert read_cells(tmp_path / "n.ipynb") == cells


@settings(deadline=None, max_examples=150)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(
                st.sampled_from(
                    [
                        *("cells", "worksheets", "source", "input", "metadata", "nbgrader"),
                        *("grade_id", "attachments", "image/png"),
                    ]
                ),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=25,
    )
)
def test_any_json_is_a_notebook_or_has_a_reason(content: Any) -> None:
    try:
        cells = parse_cells(as_bytes(content))
    except NotebookError as error:
        assert str(error)
        return
    for cell in cells:
        assert type(cell.source) is str
        cell.source.encode()


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_notebook_or_have_a_reason(data: bytes) -> None:
    try:
        parse_cells(data)
    except NotebookError as error:
        assert str(error)


# --- the plan ------------------------------------------------------------------------------------


def sources(plan: Plan) -> dict[str, str]:
    return {cell.id: cell.source for cell in plan.cells}


def order(plan: Plan) -> list[str]:
    return [cell.id for cell in plan.cells]


STANDARD = [
    *("given_setup", "given_classes"),
    *("first_hook_answer", "first_hook", "second_hook_answer", "second_hook"),
]


def test_the_reference_plan(master: Master) -> None:
    whole = reference_plan(master)
    assert order(whole) == STANDARD
    assert "append" in sources(whole)["first_hook_answer"]
    assert "41973" in sources(whole)["first_hook"]
    stripped = reference_plan(master, stripped=True, solved=False)
    assert STUB in sources(stripped)["first_hook_answer"]
    assert "41973" not in sources(stripped)["first_hook"]
    roles = ["given", "given", "answer", "check", "answer", "check"]
    assert [cell.role for cell in whole.cells] == roles


def test_an_untouched_release_needs_no_repair(master: Master) -> None:
    plan = rebuild(master, released(master))
    assert plan == reference_plan(master, stripped=True, solved=False)
    assert plan.repairs == ()
    assert plan.lesson == "01_test"


def test_the_master_itself_can_be_submitted(master: Master) -> None:
    cells = [Cell(c.source, c.is_code, c.grade_id or None) for c in master.cells]
    assert rebuild(master, cells) == reference_plan(master, stripped=True)


def test_an_empty_notebook_becomes_the_unsolved_lesson(master: Master) -> None:
    plan = rebuild(master, [])
    assert plan.cells == reference_plan(master, stripped=True, solved=False).cells
    assert len(plan.repairs) == len(STANDARD)
    assert all("was missing: put back" in repair for repair in plan.repairs)


def with_answer(master: Master, *cells: Cell, at: int = ANSWER_AT) -> list[Cell]:
    """The release with other cells in place of the first answer."""
    found = released(master)
    found[at : at + 1] = cells
    return found


MINE = Cell(answered(), True, "first_hook_answer")


def test_an_answer_is_the_learners(master: Master) -> None:
    plan = rebuild(master, with_answer(master, MINE))
    assert order(plan) == STANDARD
    assert sources(plan)["first_hook_answer"] == MINE.source
    assert plan.repairs == ()


def test_a_changed_check_or_given_cell_is_the_masters(master: Master) -> None:
    cells = released(master)
    cells[CHECK_AT] = replace(cells[CHECK_AT], source="print('all passed')")
    cells[2] = replace(cells[2], source="class Add:\n    cheat = True")
    plan = rebuild(master, cells)
    assert plan.cells == rebuild(master, released(master)).cells
    assert plan.repairs == (
        "cell 'given_classes' was edited: the original was used",
        "cell 'first_hook' was edited: the original was used",
    )


def test_a_missing_check_is_put_back(master: Master) -> None:
    cells = released(master)
    del cells[CHECK_AT]
    plan = rebuild(master, cells)
    assert plan.cells == rebuild(master, released(master)).cells
    assert plan.repairs == ("cell 'first_hook' was missing: put back",)


def test_cells_without_ids_are_recognised_by_their_text(master: Master) -> None:
    cells = [replace(cell, grade_id=None) for cell in with_answer(master, MINE)]
    plan = rebuild(master, cells)
    assert order(plan) == STANDARD
    assert sources(plan)["first_hook_answer"] == MINE.source
    assert plan.repairs == ()


@pytest.mark.parametrize(
    "code",
    [
        answered(),
        "import math\n\n" + answered(),
        "@torch.no_grad()\n" + answered(),
        "async " + answered(),
        "def  first_hook (module, input): pass",
        "if True:\n    " + answered().replace("\n", "\n    "),
        "try:\n    # words\n    def first_hook(m, i):\n        pass\nexcept E:\n    pass",
        "class A:\n    pass\nfirst_hook = lambda m, i: None",
        "%matplotlib inline\n" + answered(),
        answered(body="this is not Python ("),
        "    " + answered(),
    ],
)
def test_an_answer_is_found_by_the_function_it_defines(code: str, master: Master) -> None:
    for grade_id in (None, "renamed"):
        plan = rebuild(master, with_answer(master, Cell(code, True, grade_id)))
        assert order(plan) == STANDARD
        assert sources(plan)["first_hook_answer"] == code


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def first_hook(self, x):\n        pass",
        "class A:\n    x = 1\n\n    # words\n    def first_hook(self, x):\n        pass",
        "def outer():\n    if True:\n        def first_hook(m, i):\n            pass",
        "# def first_hook(module, input):",
        "print('def first_hook(module, input):')",
        "def my_first_hook(module, input):\n    pass",
        "def first_hook_2(module, input):\n    pass",
        "first_hook = add.register_forward_hook(f)",
        "first_hook(1, 2)",
        "",
    ],
)
def test_what_only_looks_like_an_answer_is_the_learners_own_code(code: str, master: Master) -> None:
    plan = rebuild(master, with_answer(master, Cell(code, True)))
    assert STUB in sources(plan)["first_hook_answer"]
    assert [cell.source for cell in plan.cells if cell.role == "own"] == ([code] if code else [])
    # A markdown cell never is one by its text.
    plan = rebuild(master, with_answer(master, Cell(answered(), False)))
    assert order(plan) == STANDARD
    assert STUB in sources(plan)["first_hook_answer"]


def test_of_a_copied_answer_the_first_code_cell_counts_and_others_run(master: Master) -> None:
    again = replace(MINE, source=answered(body="pass"))
    plan = rebuild(master, with_answer(master, MINE, again))
    assert order(plan) == [*STANDARD[:3], "own_5", *STANDARD[3:]]
    assert sources(plan)["first_hook_answer"] == MINE.source
    assert sources(plan)["own_5"] == again.source
    assert len(plan.repairs) == 1
    assert "'first_hook_answer' is there 2 times" in plan.repairs[0]
    # An attempt that was set aside as text does not come back to life.
    for cells in ((MINE, replace(again, is_code=False)), (replace(again, is_code=False), MINE)):
        plan = rebuild(master, with_answer(master, *cells))
        assert order(plan) == STANDARD
        assert sources(plan)["first_hook_answer"] == MINE.source


def test_an_answer_that_became_text_still_counts(master: Master) -> None:
    plan = rebuild(master, with_answer(master, replace(MINE, is_code=False)))
    assert sources(plan)["first_hook_answer"] == MINE.source


def test_a_split_answer_runs_in_its_order(master: Master) -> None:
    top = replace(MINE, source="# first half\nhelper = 1")
    plan = rebuild(master, with_answer(master, top, MINE))
    assert [cell.source for cell in plan.cells[2:4]] == [top.source, MINE.source]
    assert plan.cells[4].id == "first_hook"


def test_a_split_or_copied_check_runs_once(master: Master) -> None:
    cells = released(master)
    check = cells[CHECK_AT]
    half = len(check.source) // 2
    parts = [replace(check, source=s) for s in (check.source[:half], check.source[half:])]
    cells[CHECK_AT : CHECK_AT + 1] = [*parts, check]
    assert rebuild(master, cells).cells == rebuild(master, released(master)).cells


def test_the_learners_own_code_runs_where_it_stands(master: Master) -> None:
    cells = released(master)
    own = [Cell(f"mine = {n}", True) for n in range(4)]
    cells = [own[0], *cells[:3], own[1], cells[3], own[2], *cells[4:], own[3]]
    plan = rebuild(master, cells)
    assert [cell.source if cell.role == "own" else cell.id for cell in plan.cells] == [
        *("mine = 0", "given_setup", "given_classes", "mine = 1"),
        *("first_hook_answer", "mine = 2", "first_hook"),
        *("second_hook_answer", "second_hook", "mine = 3"),
    ]
    assert plan.repairs == ()
    assert all(cell.id.startswith("own_") for cell in plan.cells if cell.role == "own")


def test_reordered_cells_run_in_the_masters_order(master: Master) -> None:
    plan = rebuild(master, list(reversed(with_answer(master, MINE))))
    assert order(plan) == STANDARD
    assert sources(plan)["first_hook_answer"] == MINE.source


def test_plain_asserts_of_another_course_keep_their_magics(tmp_path: Path) -> None:
    check = "%matplotlib inline\nassert x == 1  # kept"
    other = master_of(
        tmp_path,
        [
            code("x = 1", "q1", solution=True),
            code(check, "t1", grade=True, locked=True, points=1),
            code("y = 2"),
        ],
    )
    plan = rebuild(other, [Cell("x = 5", True, "q1")])
    assert [cell.source for cell in plan.cells] == ["x = 5", check, "y = 2"]
    assert other.exercises[0].answer is None
    bad = master_of(tmp_path, [code("%magic\nexpect(1, 2, 'it')", "t1", grade=True, points=1)])
    for make in (lambda: rebuild(bad, []), lambda: reference_plan(bad, stripped=True)):
        with pytest.raises(CourseError, match="'t1': the check is no plain Python"):
            make()


@pytest.mark.timeout(60)
def test_a_hostile_notebook_is_planned_in_bounded_time(master: Master) -> None:
    long = "class A:\n" + "    def first_hook(self): pass\n" * 6_000
    cells = [Cell(long, True)] * 20 + [Cell("x = 1\n" * 30_000, True, "first_hook")] * 20
    cells += [Cell("first_hook" * 19_000, True), Cell("\t" * 190_000 + "first_hook", True)]
    plan = rebuild(master, cells)
    recognise(cells, [master])
    assert STUB in sources(plan)["first_hook_answer"]


# Whatever happens to a notebook, the plan holds each check and given cell once.

MANGLED = st.sampled_from(
    ["", "x = 1", "def second_hook(m, i):\n    return 1", "%%bash\nls", "expect(1)", "\x00", "é\r"]
)
IDS = st.sampled_from(
    [None, "", "own_3", "cell_1", "nonsense", *STANDARD, "first_hook_answer", "first_hook"]
)


DAMAGES = [
    *("cut", "copy", "split", "move", "retype", "rename"),
    *("strip", "edit", "new", "shuffle"),
]


@st.composite
def damaged(draw: st.DrawFn, original: list[Cell]) -> list[Cell]:
    cells = list(original)
    for _ in range(draw(st.integers(0, 8))):
        if not cells:
            break
        at = draw(st.integers(0, len(cells) - 1))
        cell = cells[at]
        match draw(st.sampled_from(DAMAGES)):
            case "cut":
                del cells[at]
            case "copy":
                cells.insert(draw(st.integers(0, len(cells))), cell)
            case "split":
                place = draw(st.integers(0, len(cell.source)))
                halves = (cell.source[:place], cell.source[place:])
                cells[at : at + 1] = [replace(cell, source=half) for half in halves]
            case "move":
                cells.insert(draw(st.integers(0, len(cells) - 1)), cells.pop(at))
            case "retype":
                cells[at] = replace(cell, is_code=not cell.is_code)
            case "rename":
                cells[at] = replace(cell, grade_id=draw(IDS))
            case "strip":
                cells = [replace(one, grade_id=None) for one in cells]
            case "edit":
                cells[at] = replace(cell, source=draw(st.one_of(MANGLED, st.text(max_size=9))))
            case "new":
                new = Cell(draw(MANGLED), draw(st.booleans()), draw(IDS))
                cells.insert(draw(st.integers(0, len(cells))), new)
            case "shuffle":
                cells = draw(st.permutations(cells))
    return cells


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_the_plan_holds_every_check_once_whatever_happened(data: Any, master: Master) -> None:
    original = data.draw(st.sampled_from([released(master), with_answer(master, MINE)]))
    cells = data.draw(damaged(original))
    plan = rebuild(master, cells)
    masters = [cell for cell in plan.cells if cell.role != "own"]
    assert [cell.id for cell in masters] == STANDARD
    expected = sources(reference_plan(master, stripped=True))
    for cell in masters:
        if cell.role != "answer":
            assert cell.source == expected[cell.id]
    for cell in plan.cells:
        if cell.role in ("own", "answer"):
            # The learner's own text, or the unsolved stub; nothing where the function is elsewhere.
            texts = [c.source for c in cells] + [c.source for c in released(master)]
            assert cell.source in [*texts, "" if cell.role == "answer" else None]
        assert "41973" not in cell.source
    own = [cell for cell in plan.cells if cell.role == "own"]
    assert len({cell.id for cell in plan.cells}) == len(plan.cells)
    for cell in own:
        assert cells[int(cell.id.removeprefix("own_")) - 1].is_code
    assert rebuild(master, cells) == plan
    assert len(plan.repairs) == len(set(plan.repairs))
    # Learners' code cells with no id of the master's run exactly once.
    texts = {c.source.strip() for m in master.cells for c in (m, Cell(m.release, True))}
    loose = [c.source for c in cells if c.is_code and c.grade_id not in STANDARD]
    for one in loose:
        if one.strip() and one.strip() not in texts and "_hook" not in one:
            assert loose.count(one) == [cell.source for cell in own].count(one) - sum(
                c.is_code
                and c.grade_id in STANDARD
                and c.source == one
                and plan_runs_it(c, cells, plan)
                for c in cells
            )


def plan_runs_it(cell: Cell, cells: list[Cell], plan: Plan) -> bool:
    """Whether a cell with an id of the master's runs as the learner's own (a copied answer)."""
    places = [n for n, one in enumerate(cells, 1) if one is cell]
    return any(one.id in {f"own_{n}" for n in places} for one in plan.cells)


# --- which lesson a notebook is of ---------------------------------------------------------------


@pytest.fixture(scope="session")
def masters(master: Master, tmp_path_factory: pytest.TempPathFactory) -> list[Master]:
    cells = [given_cell(SETUP, "given_setup"), *exercise("third_hook"), *exercise("fourth_hook")]
    return [master_of(tmp_path_factory.mktemp("course"), cells, "02_other"), master]


@pytest.mark.parametrize(
    ("lesson", "make"),
    [
        ("01_test", released),
        ("01_test", lambda m: [replace(c, grade_id=None) for c in released(m)]),
        ("01_test", lambda m: [replace(c, source="gone") for c in released(m)]),
        ("01_test", lambda m: [Cell(answered(), True)]),
        ("01_test", lambda m: [Cell("x = 1", True)] * 50 + [Cell("", True, "second_hook")]),
        ("01_test", lambda m: [Cell(answered("third_hook"), True), *released(m)]),
        ("02_other", lambda m: [Cell(answered("third_hook"), True)]),
        (None, lambda m: []),
        (None, lambda m: [Cell("", True), Cell("  ", True)]),
        (None, lambda m: [Cell(SETUP, True, "given_setup")]),  # all lessons have it
        (None, lambda m: [Cell("def fifth_hook(m):\n    pass", True, "something")]),
        (None, lambda m: [Cell(answered(), False)]),
    ],
)
def test_recognise(
    lesson: str | None, make: Callable[[Master], list[Cell]], masters: list[Master]
) -> None:
    found = recognise(make(masters[1]), masters)
    assert (found.lesson if found else None) == lesson


def test_recognise_without_lessons_or_with_empty_releases(tmp_path: Path) -> None:
    assert recognise([Cell(answered(), True)], []) is None
    hidden = "### BEGIN HIDDEN TESTS\nassert x\n### END HIDDEN TESTS"
    odd = master_of(tmp_path, [code(hidden, "t1", grade=True, points=1)])
    assert recognise([Cell("", True)], [odd]) is None


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("x", "x = _a" + OK),
        ("x", "for _i, x in enumerate((_a, _b)):\n    expect(_run(x), _a, 'it')"),
        ("x", "with torch.no_grad() as x:\n    pass" + OK),
        ("x", "def _set():\n    global x\n    x = 1" + OK),
        ("run", "def run(v):\n    return _run(v)\nexpect(run(_a), _a, 'it')"),
        ("Add", "class Add:\n    pass" + OK),
        ("answer", "answer = []" + OK),
        ("hook", "hook = print" + OK),
        ("math", "import math" + OK),
        ("", "def _one(x):\n    y = x\n    return _run(y)\nexpect(_one(_a), _a, 'it')"),
        ("", "expect(_run([x for x in _a]), _a, 'it')"),
    ],
)
def test_names_that_a_check_makes_do_not_overwrite_a_learners(name: str, cell: str) -> None:
    says = f"`{name}` would overwrite a learner's name: let names that a check makes start with _"
    assert findings(cell) == ([says] if name else [])
