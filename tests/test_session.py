"""What the kernel remembers: which cells ran with which text, and who makes which name."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.lab import missing, session

HOUR = 3600


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setattr(session, "_ran", {})
    monkeypatch.setattr(session, "_running", "")
    monkeypatch.setattr(session, "_stopped", {})
    monkeypatch.setattr(session, "_made", {})
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(config=config)
    session.watch()
    session.watch()  # a second import of the package changes nothing
    yield made
    InteractiveShell.clear_instance()


def code(cell_id: str, source: str | list[str], grade_id: str = "") -> dict[str, object]:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": "code", "id": cell_id, "source": source, "metadata": metadata}


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    def write(*cells: dict[str, object], age: float = 0) -> Path:
        path = tmp_path / "lesson.ipynb"
        path.write_text(json.dumps({"cells": list(cells)}))
        os.utime(path, (time.time() - age,) * 2)
        return path

    return write


def test_a_cell_that_ran_with_another_text_after_the_last_save(
    shell: InteractiveShell, save: Callable[..., Path]
) -> None:
    shell.run_cell("x = 2", cell_id="a")
    shell.run_cell("y = 1", cell_id="b")
    old = [code("a", "x = 1", "hook_answer"), code("b", ["y ", "= 1\n"]), code("c", "z = 0")]
    assert session.unsaved(save(*old, age=HOUR)) == ["`hook`"]
    new = [code("a", "x = 2", "hook_answer"), *old[1:]]
    assert session.unsaved(save(*new, age=HOUR)) == []
    # Changed and saved after it ran: the file is what counts, and it is the newer one.
    assert session.unsaved(save(*old, age=-HOUR)) == []


def test_a_cell_without_a_name_is_called_by_its_first_line(
    shell: InteractiveShell, save: Callable[..., Path]
) -> None:
    shell.run_cell("\nvalue = 'x' * 50 + 'another text'\ny = 2", cell_id="a")
    (name,) = session.unsaved(save(code("a", "old"), age=HOUR))
    assert name == "“value = 'x' * 50 + 'another text'”"


def test_what_is_in_no_file_or_has_no_id_says_nothing(
    shell: InteractiveShell, save: Callable[..., Path], tmp_path: Path
) -> None:
    shell.run_cell("x = 2")  # a front end that sends no ids
    shell.run_cell("x = 3", cell_id="console")  # another client of this kernel
    assert session.unsaved(save(code("a", "x = 1"), age=HOUR)) == []
    assert session.unsaved(tmp_path / "none.ipynb") == []


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"cells": 1}', b'{"cells": [1]}', b'{"cells": [{}]}', b"[" * 10**5]
)
def test_a_damaged_file_says_nothing(
    content: bytes, shell: InteractiveShell, tmp_path: Path
) -> None:
    shell.run_cell("x = 2", cell_id="a")
    path = tmp_path / "lesson.ipynb"
    path.write_bytes(content)
    os.utime(path, (0, 0))
    assert session.unsaved(path) == []


def test_the_last_run_of_a_cell_counts(shell: InteractiveShell, save: Callable[..., Path]) -> None:
    path = save(code("a", "x = 1"), age=HOUR)
    shell.run_cell("x = 2", cell_id="a")
    assert session.unsaved(path)
    shell.run_cell("x = 1", cell_id="a")
    assert session.unsaved(path) == []


def test_outside_of_ipython_it_does_nothing() -> None:
    InteractiveShell.clear_instance()
    assert session.watch() is None  # type: ignore[func-returns-value]


# --- whose notebook this is, and who makes a name ------------------------------------------------


def test_the_notebook_is_the_one_jupyter_names_or_the_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert session.notebook() is None
    (tmp_path / "a.ipynb").write_text("")
    assert session.notebook() == tmp_path / "a.ipynb"
    (tmp_path / "b.ipynb").write_text("")
    assert session.notebook() is None
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "b.ipynb"))
    assert session.notebook() == tmp_path / "b.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", "no file's name")  # as some front ends do
    assert session.notebook() is None


def raised(source: str) -> Exception:
    try:
        exec(source, {})
    except Exception as error:
        missing.explain(error)
        return error
    raise AssertionError


def shown(error: Exception) -> list[str] | None:
    render = getattr(error, "_render_traceback_", None)
    return render() if render else None


def test_a_name_that_another_cell_makes_gets_a_sentence(
    shell: InteractiveShell,
    save: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    save(code("a", "class Add:\n    inner = 1\n\ndef hook(): ...\nanswer = []\nx == y"))
    says = "NameError: `{}` is not there yet. Run the cell that makes it first."
    for name in ("Add", "hook", "answer"):
        (line,) = shown(raised(name)) or [""]
        assert line.startswith(says.format(name))
        assert line.endswith("choose Run → Run All Above Selected Cell.")
    for name in ("inner", "x", "unknown"):
        assert shown(raised(name)) is None
    assert shown(raised("1 / 0")) is None
    assert shown(raised("def f():\n    print(hook)\n    hook = 1\nf()")) is None  # a local name
    shell.run_cell("hook\ndef hook(): ...")  # this cell makes it, only too late
    assert shown(raised("hook")) is None


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("import torch\nfrom torch import nn\nimport os.path as way", {"torch", "nn", "way"}),
        ("from autograder.lab import (\n    check,\n    expect as e,\n)", {"check", "e"}),
        ("x1, (x2, *x3) = 1, (2, 3)\nfor i in x3:\n    z = i", {"x1", "x2", "x3", "i", "z"}),
        ("def f(a):\n    b = a", {"f"}),
        ("%time\nx = 1\ndef f(): ...", {"x", "f"}),  # no Python for anybody but IPython
        ("x == 1\nprint(x)", set()),
    ],
)
def test_whatever_makes_a_name_counts(
    cell: str,
    names: set[str],
    shell: InteractiveShell,
    save: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(save(code("a", cell))))
    assert session.made_elsewhere() == names


# --- an answer that was not made anew ------------------------------------------------------------

GOOD = "def hook(x):\n    return 2 * x"
STOPS = [
    "def hook(x)\n    return x",
    "def hook(x):\nreturn x",
    "x = 1\n  def hook(x):\n    return x",
    "def hook(x):\n    return (x\n\nprint(hook(1))",
    "dfe hook(x):\n    return x",
    "def hook(x:\n    'text",
    "unknown\ndef hook(x):\n    return x",
    "@unknown\ndef hook(x):\n    return x",
    "raise KeyboardInterrupt\nclass hook: ...",
    "1 / 0\nhook = lambda x: x",
]


@pytest.mark.parametrize("text", STOPS)
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_cell_that_stops_before_its_function_is_made(
    first: bool, text: str, shell: InteractiveShell, save: Callable[..., Path]
) -> None:
    path = save(code("a", GOOD, "hook_answer"))
    os.environ["JPY_SESSION_NAME"] = str(path)
    try:
        if not first:
            shell.run_cell(GOOD, cell_id="a")
        assert session.not_made({"hook"}) is None
        shell.run_cell(text, cell_id="a")
        if first and text.startswith("dfe"):  # the file tells what the cell is for
            assert session._exercise_of("a") == "hook"
        assert session.not_made({"hook", "print"}) is not None
        assert session.not_made({"print", "x"}) is None
        shell.run_cell("y = 1", cell_id="b")
        assert session.not_made({"hook"}) is not None
        shell.run_cell(GOOD, cell_id="a")
        assert session.not_made({"hook"}) is None
    finally:
        del os.environ["JPY_SESSION_NAME"]


@pytest.mark.parametrize("cell_id", ["a", None])
def test_what_makes_the_function_in_another_way_clears_it(
    cell_id: str | None, shell: InteractiveShell
) -> None:
    shell.run_cell(GOOD, cell_id=cell_id)
    shell.run_cell(STOPS[0], cell_id=cell_id)
    assert session.not_made({"hook"}) is not None
    shell.run_cell(GOOD, cell_id="another")
    assert session.not_made({"hook"}) is None
    shell.run_cell(STOPS[0], cell_id=cell_id)
    shell.run_cell(GOOD, cell_id=cell_id)
    assert session.not_made({"hook"}) is None


def test_a_cell_that_stops_after_its_function_was_made_is_no_trouble(
    shell: InteractiveShell,
) -> None:
    shell.run_cell(GOOD, cell_id="a")
    shell.run_cell(GOOD + "\n\nhook(unknown)", cell_id="a")
    assert session.not_made({"hook"}) is None


TRY = "\n\nhook(1)"


@pytest.mark.parametrize(
    "text",
    ["def hok(x):\n    return x" + TRY, "# def hook(x):" + TRY, "hok = lambda x: x" + TRY],
    ids=["renamed", "a comment", "a lambda"],
)
def test_a_function_that_is_no_longer_in_its_cell(text: str, shell: InteractiveShell) -> None:
    """The lines below still find the one from before, so the cell ends without an error."""
    shell.run_cell(GOOD + TRY, cell_id="a")
    shell.run_cell(text, cell_id="a")
    assert session.not_made({"hook"}) == ("hook", None)
    shell.run_cell(text, cell_id="a")
    assert session.not_made({"hook"}) == ("hook", None), "also when it is run again"
    shell.run_cell(GOOD + TRY, cell_id="a")
    assert session.not_made({"hook"}) is None


def test_a_function_that_moved_to_another_cell(shell: InteractiveShell) -> None:
    shell.run_cell(GOOD, cell_id="a")
    shell.run_cell(GOOD, cell_id="b")
    shell.run_cell("hook(1)", cell_id="a")
    assert session.not_made({"hook"}) is None
    shell.run_cell("x = 1", cell_id="b")
    assert session.not_made({"hook"}) == ("hook", None)


@pytest.mark.parametrize("text", ["hook = helper", "hook = make()", "from here import hook"])
def test_a_function_that_is_made_in_another_way(text: str, shell: InteractiveShell) -> None:
    shell.run_cell("def helper(x):\n    return x\ndef make():\n    return helper", cell_id="h")
    shell.run_cell(
        "import sys, types\nsys.modules['here'] = types.ModuleType('here')\n"
        "sys.modules['here'].hook = helper"
    )
    shell.run_cell(GOOD, cell_id="a")
    for _ in range(3):
        shell.run_cell(text, cell_id="a")
        assert session.not_made({"hook"}) is None
    del sys.modules["here"]
