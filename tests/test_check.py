"""`autograder check`: exit codes, lines and JSON, as a learner or a script sees them."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from classroom import make_course
from test_table import FAILED, PASSED, RESULT

from autograder import progress
from autograder.cli import main

pytestmark = pytest.mark.usefixtures("kept_workers")

check_module = importlib.import_module("autograder.lab.check")  # the name is the function's
ROOT = Path(__file__).resolve().parent.parent
LESSON = "01_add_and_model/add_and_model.ipynb"
IDS = ["pre_hook", "output_hook", "hook", "module_hook", "normalise_hook", "tensor_hook"]


def solved(**answers: str) -> dict[str, Any]:
    """The release, with some answers written in."""
    notebook: dict[str, Any] = json.loads((ROOT / "notebooks" / LESSON).read_text())
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "").removesuffix("_answer")
        if name in answers and cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] = answers[name]
    return notebook


def run(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> tuple[int, str, str]:
    code = main(["check", str(path), "--course", str(ROOT), *more])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_release_earns_nothing_and_says_todo(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, ROOT / "notebooks" / LESSON, "--json")
    result = json.loads(out)
    assert code == 1
    assert (result["lesson"], result["score"], result["max_score"]) == ("01_add_and_model", 0, 30)
    assert [row["id"] for row in result["exercises"]] == IDS
    for row in result["exercises"]:
        assert row["points"] == 0
        assert row["verdict"] == "failed"
        assert row["mistake"] == "todo"
        assert "TODO" in row["message"]


def test_the_solution_earns_everything(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, ROOT / "solutions" / LESSON, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["score"] == result["max_score"] == 30
    assert {row["verdict"] for row in result["exercises"]} == {"passed"}


def test_a_line_for_each_exercise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.ipynb"
    answers = {"hook": "def hook(module, input, output):\n    return output + 5"}
    path.write_text(json.dumps(solved(**answers)))
    code, out, _ = run(capsys, path)
    lines = out.splitlines()
    assert code == 1
    assert len(lines) == 7
    assert lines[2].split()[:4] == ["✓", "hook", "4/4", "passed"]
    assert lines[0].startswith("✗ pre_hook")
    assert lines[-1] == "4 of 30 points"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"not JSON", "not JSON"),
        (b"[1, 2]", "no notebook"),
        (b'{"cells": [{"cell_type": "code", "source": "1 + 1"}]}', "no lesson of this course"),
    ],
)
def test_what_is_no_notebook_of_this_course(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "strange.ipynb"
    path.write_bytes(content)
    code, out, err = run(capsys, path)
    assert code == 2
    assert out == ""
    assert says in err
    assert "strange.ipynb" in err
    assert len(err.splitlines()) == 1


SETTINGS = "c = get_config()\nc.AutograderLimits.files = 1 / 0\n"


@pytest.mark.parametrize("beside", ["a lesson", "an empty folder", "no solutions"])
def test_what_a_learner_handed_in_is_no_course(
    beside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    course = make_course(tmp_path / "course", ["ada"])
    handed_in = course / "submitted" / "ada" / "01_add_and_model"
    (handed_in / "nbgrader_config.py").write_text(SETTINGS)
    if beside == "an empty folder":
        (handed_in / "solutions").mkdir()
    elif beside == "a lesson":
        (handed_in / "solutions" / "l").mkdir(parents=True)
        (handed_in / "solutions" / "l" / "l.ipynb").write_text(json.dumps(solved()))
    for place in (course, handed_in):
        monkeypatch.chdir(place)
        code = main(["check", "--json", str(handed_in / "add_and_model.ipynb")])
        result = json.loads(capsys.readouterr().out)
        assert (code, result["score"], result["hidden"]) == (0, 30, True)
        assert result["tier"] in ("A", "B")
    # A course that one stands in is one's own, and so are its settings.
    (course / "nbgrader_config.py").write_text(SETTINGS)
    monkeypatch.chdir(course)
    assert main(["check", str(handed_in / "add_and_model.ipynb")]) == 2
    assert "division" in capsys.readouterr().err


def test_a_missing_file_and_a_missing_course(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, tmp_path / "none.ipynb")
    assert code == 2
    assert "none.ipynb" in err
    assert main(["check", str(ROOT / "notebooks" / LESSON), "--course", str(tmp_path)]) == 2
    assert "--course" in capsys.readouterr().err


def test_the_command_needs_no_activated_environment(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("autograder")),
            "check",
            str(ROOT / "solutions" / LESSON),
        ],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("30 of 30 points\n")


def test_solutions_are_in_the_reply_for_passed_exercises_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.ipynb"
    path.write_text(
        json.dumps(solved(hook="def hook(module, input, output):\n    return output+5"))
    )
    _, out, _ = run(capsys, path, "--json")
    result = json.loads(out)
    assert (result["hidden"], result["why_not"]) == (True, "")
    for number, row in enumerate(result["exercises"], 1):
        assert row["title"].startswith(f"Exercise {number}: ")
        assert row["heading"] == f"{row['title']} ({row['max_points']:g} points)"
        assert ("solution" in row) is (row["id"] == "hook")
    hook = result["exercises"][2]["solution"]
    assert hook["code"] == "def hook(module, input, output):\n    return output + 5"
    assert hook["why"].startswith("what a forward hook returns replaces the output.")
    assert "grad_input[0] / total" not in out


def test_progress_stands_on_stderr_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "solutions" / LESSON
    assert run(capsys, path, "--json")[2] == ""
    code, out, err = run(capsys, path, "--json", "--progress")
    assert code == 0
    assert json.loads(out)["score"] == 30
    first, *cells = err.splitlines()
    assert first == "progress: starting a fresh Python"
    total = len(cells)
    assert cells == [f"progress: cell {number} of {total}" for number in range(1, total + 1)]
    assert total > 20


def test_check_in_a_notebook_draws_the_commands_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(check_module, "display", lambda thing, **_: shown.append(thing))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    Path("mine.ipynb").write_text(
        json.dumps(solved(pre_hook="def pre_hook(module, input): 1 < '<b>'"))
    )
    check_module.check()
    (table,) = shown
    assert "0 of 30 points" in repr(table)
    page = table._repr_html_()
    assert page.count("<tr>") == 7
    assert "<b>'" not in page
    remembered = progress.read(tmp_path / "mine.ipynb")
    assert (remembered.lesson, remembered.passed) == ("01_add_and_model", ())
    assert list(remembered.exercises) == IDS


def test_check_says_first_what_was_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(check_module, "display", lambda thing, **_: shown.append(thing))
    monkeypatch.setattr(check_module.session, "unsaved", lambda path: ["`hook`"])
    monkeypatch.setattr(check_module, "run", lambda path, tell: RESULT)
    check_module.check(tmp_path / "mine.ipynb")
    assert [type(thing).__name__ for thing in shown] == ["Unsaved", "Table"]
    assert "the cell of `hook`" in repr(shown[0])


def test_check_remembers_what_passed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(check_module, "display", lambda thing, **_: shown.append(thing))
    results = [RESULT, {**RESULT, "exercises": [FAILED | {"id": PASSED["id"]}, FAILED]}] * 2
    monkeypatch.setattr(check_module, "run", lambda path, tell: results.pop(0))
    for _ in range(3):
        check_module.check(tmp_path / "mine.ipynb")
    assert ["passed before" in repr(table) for table in shown] == [False, True, False]


def test_check_knows_its_notebook_from_jupyters_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine.ipynb", "a copy.ipynb"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a copy.ipynb"))
    with pytest.raises(check_module.CheckError, match="a copy"):
        check_module.check()


@pytest.mark.parametrize("names", [[], ["a.ipynb", "b.ipynb"]])
def test_check_asks_which_notebook(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    for name in names:
        Path(name).write_text("{}")
    with pytest.raises(check_module.CheckError, match=f"{len(names)} notebooks"):
        check_module.check()


def test_check_says_why_it_could_not(tmp_path: Path) -> None:
    path = tmp_path / "empty.ipynb"
    path.write_text("")
    with pytest.raises(check_module.CheckError, match=r"empty\.ipynb.*empty"):
        check_module.check(path)


def test_a_note_is_never_why_a_check_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'note: the notebook runs' >&2\nexit 5\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(check_module.CheckError, match="ended with 5"):
        check_module.check(tmp_path / "mine.ipynb")


def test_check_does_nothing_while_graded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check_module.check("no such file")
    assert "does nothing" in capsys.readouterr().out


@pytest.mark.parametrize("sink", ["| true", "> /dev/full"])
def test_output_that_nobody_takes_is_no_mark(sink: str) -> None:
    command = f"{sys.executable} -m autograder check {ROOT / 'solutions' / LESSON} {sink}"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout == "2\n"  # 1 would say: less than full marks
    assert "Traceback" not in done.stderr


def test_a_terminal_without_a_tick_gets_the_marks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "check", str(ROOT / "solutions" / LESSON)],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.strip().endswith(b"30 of 30 points")
