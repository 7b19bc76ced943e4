"""``check()`` in a real kernel: what appears while it runs, how it ends, what it leaves."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import psutil
import pytest
from kernel import Kernel, errors

from autograder import progress
from autograder.engine import best

ROOT = Path(__file__).resolve().parent.parent
LESSON = "01_add_and_model"
NAME = "add_and_model.ipynb"
FOREVER = "def hook(module, input, output):\n    while True:\n        pass"


def cells_of(folder: str) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((ROOT / folder / LESSON / NAME).read_text())
    return notebook


def lesson(folder: Path, *, but: dict[str, str] | None = None) -> Path:
    """A learner's solved copy of the lesson, with some answers put in."""
    answers = {cell["id"]: cell["source"] for cell in cells_of("solutions")["cells"]}
    release = cells_of("notebooks")
    for cell in release["cells"]:
        kind = cell["metadata"].get("nbgrader", {})
        if kind.get("solution"):
            exercise = kind["grade_id"].removesuffix("_answer")
            cell["source"] = (but or {}).get(exercise, answers[cell["id"]])
    folder.mkdir(exist_ok=True)
    path = folder / NAME
    path.write_text(json.dumps(release))
    shutil.copy(ROOT / "notebooks" / LESSON / "mistakes.toml", folder)
    return path


def without_masters(folder: Path) -> str:
    """A copy of the package alone, as pip installs it: its place for PYTHONPATH."""
    shutil.copytree(
        ROOT / "autograder", folder / "autograder", ignore=shutil.ignore_patterns("__pycache__")
    )
    return str(folder)


def at_the_loop() -> str:
    """What the progress says while the check of `hook` runs, which never ends."""
    names = [
        cell["metadata"].get("nbgrader", {}).get("grade_id")
        for cell in cells_of("notebooks")["cells"]
        if cell["cell_type"] == "code"
    ]
    return f": cell {names.index('hook') + 1} of {len(names)}"


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """What was displayed, first and in its place later, as plain text."""
    kinds = ("display_data", "update_display_data")
    return [message["data"]["text/plain"] for message in messages if message["type"] in kinds]


def test_progress_then_the_table_in_one_place_and_what_passed_before(tmp_path: Path) -> None:
    path = lesson(tmp_path)
    hook_id = "hook-answer"
    with Kernel(tmp_path) as kernel:
        kernel.run("from autograder.lab import check")
        shown = kernel.run("check()")
        first, *later = [m for m in shown if m["type"].endswith("display_data")]
        assert first["type"] == "display_data"
        assert {m["type"] for m in later} == {"update_display_data"}
        places = {m["transient"]["display_id"] for m in (first, *later)}
        assert len(places) == 1
        *running, table = texts(shown)
        assert all(text.startswith("Running your notebook in a fresh process") for text in running)
        assert any(at_the_loop() in text for text in running)
        assert table.endswith("30 of 30 points")
        assert len(progress.read(path).passed) == 6

        # Another answer, run but not saved: the file is older than the session.
        os.utime(path, (0, 0))
        kernel.run("def hook(module, input, output):\n    pass", hook_id)
        (source,) = (
            c["source"] for c in cells_of("notebooks")["cells"] if c["id"] == "given-check"
        )
        notice, *_, table = texts(kernel.run("".join(source), "given-check"))
        assert notice.startswith("Not saved since you ran the cell of `hook`:")
        assert table.endswith("30 of 30 points")

        # Saved: now the file has it, and what it loses was there before.
        lesson(tmp_path, but={"hook": "def hook(module, input, output):\n    pass"})
        *running, table = texts(kernel.run("check()"))
        assert not any("Not saved" in text for text in running)
        line = next(line for line in table.splitlines() if line.startswith("✗"))
        assert "Exercise 3: change what comes out: not yet (passed before), 0 of 4." in line
        assert table.endswith("26 of 30 points")
    assert progress.read(path).passed[2] == "hook"


@pytest.mark.parametrize("masters", [True, False], ids=["with masters", "without masters"])
def test_an_interrupt_ends_it_in_one_line_and_leaves_no_process(
    masters: bool, tmp_path: Path
) -> None:
    path = lesson(tmp_path / "mine", but={"hook": FOREVER})
    package = {} if masters else {"PYTHONPATH": without_masters(tmp_path)}
    with Kernel(path.parent, **package) as kernel:
        kernel.run("from autograder.lab import check")
        own = psutil.Process(kernel.manager.provisioner.pid)  # type: ignore[union-attr]
        running: list[psutil.Process] = []
        seen: list[dict[str, Any]] = []
        for message in kernel.messages(kernel.start("check()")):
            seen.append(message)
            if not running and any(at_the_loop() in text for text in texts([message])):
                running = own.children(recursive=True)
                kernel.manager.interrupt_kernel()
        assert len(running) >= 2
        assert errors(seen) == [["Stopped. Run this cell again whenever you like."]]
        _, alive = psutil.wait_procs(running, timeout=60)
        assert alive == []
        assert errors(kernel.run("1 + 1")) == []  # the kernel goes on
    assert not progress.read(path).checked


def test_a_kernel_that_is_killed_takes_it_along(tmp_path: Path) -> None:
    path = lesson(tmp_path, but={"hook": FOREVER})
    with Kernel(path.parent) as kernel:
        kernel.run("from autograder.lab import check")
        own = psutil.Process(kernel.manager.provisioner.pid)  # type: ignore[union-attr]
        for message in kernel.messages(kernel.start("check()")):
            if any(at_the_loop() in text for text in texts([message])):
                break
        running = own.children(recursive=True)
        # The command, its warm server (and bubblewrap around it), the learner's loop.
        assert len(running) == (4 if best() == "A" else 3)
    _, alive = psutil.wait_procs(running, timeout=60)
    assert alive == []


def test_without_masters_it_says_so_and_shows_no_solution(tmp_path: Path) -> None:
    path = lesson(tmp_path / "mine", but={"hook": "def hook(module, input, output):\n    pass"})
    with Kernel(path.parent, PYTHONPATH=without_masters(tmp_path)) as kernel:
        kernel.run("from autograder.lab import check")
        shown = kernel.run("check()")
    table = shown[-1]["data"]
    assert errors(shown) == []
    assert "5 of 6 visible checks pass" in table["text/plain"]
    assert "is not on this machine" in table["text/plain"]
    assert "not yet, of 4. what add(4, 7) returns" in table["text/plain"]
    assert "points" not in table["text/plain"]
    assert "<details" not in table["text/html"]
    remembered = progress.read(path)
    assert len(remembered.passed) == 5
    assert (remembered.lesson, remembered.finished) == ("", False)
