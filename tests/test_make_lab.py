"""`make lab` and `autograder lab`: what the terminal says, and what the browser opens on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from browser import ROOT, Lesson, Server, copy_course, running, wait_for
from playwright.sync_api import Page, expect

from autograder.desk import open_lab

LESSON = "notebooks/01_add_and_model/add_and_model.ipynb"
# All that a learner sees in the terminal, from `make lab` to Ctrl-C.
SAYS = r"""JupyterLab starts; Ctrl-C here stops it\.
\s*
 *To access the server, open this file in a browser:
 *file://\S+
 *Or copy and paste one of these URLs:
 *(http://localhost:(\d+)/lab/tree/(\S+)\?token=\w+)
 *http://127\.0\.0\.1:\d+/lab/tree/\S+
"""


class Terminal:
    """A program in a terminal of its own, as a person runs it."""

    def __init__(self, *command: str, cwd: Path, env: dict[str, str]) -> None:
        self._ours, theirs = os.openpty()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, preexec_fn=lambda: os.login_tty(theirs), pass_fds=[theirs]
        )
        os.close(theirs)
        self.text = ""

    def read(self, until: str = "") -> re.Match[str] | None:
        """Read until the text holds a pattern; to the end without one, or where it never comes."""
        with contextlib.suppress(OSError):  # the other end is closed
            while not until or not re.search(until, self.text):
                self.text += os.read(self._ours, 10_000).decode().replace("\r\n", "\n")
        return re.search(until, self.text)

    def press_ctrl_c(self) -> None:
        os.write(self._ours, b"\x03")

    def close(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self.process.pid).children(recursive=True):
                process.terminate()
        self.process.terminate()
        self.process.wait(60)
        os.close(self._ours)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The course with its Makefile, and a .venv that leads to the one of this test."""
    folder = copy_course(tmp_path / "clone of it")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, folder)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (folder / ".venv" / "ready").touch()
    return folder


def environment(home: Path) -> dict[str, str]:
    """No venv is activated, and no browser is to be found."""
    away = (
        "VIRTUAL_ENV",
        "BROWSER",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "MAKEFLAGS",
        "MAKELEVEL",
        "MFLAGS",
    )
    kept = {name: value for name, value in os.environ.items() if name not in away}
    return kept | {"HOME": str(home), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}


def test_make_lab_opens_the_first_page_and_says_no_more_than_that(
    clone: Path, tmp_path: Path, window: Page
) -> None:
    arguments = "LAB_ARGS=--no-browser --port=0"
    terminal = Terminal("make", "lab", arguments, cwd=clone, env=environment(tmp_path / "home"))
    try:
        found = terminal.read(until=SAYS)
        assert found, terminal.text
        assert found[3] == "notebooks/README.md"
        wait_for(found[1])
        window.goto(found[1])
        page = window.locator(".jp-MarkdownViewer")
        expect(page.get_by_role("link")).not_to_have_count(0)
        expect(window.locator(".jp-DirListing-item.jp-mod-selected")).to_contain_text("README.md")
        page.get_by_role("link").first.click()
        Lesson(window, clone / LESSON)  # waits until its kernel is there
        children = psutil.Process(terminal.process.pid).children(recursive=True)
        kernels = [child for child in children if "ipykernel_launcher" in child.cmdline()]
        assert [kernel.cmdline()[0] for kernel in kernels] == [sys.executable]

        terminal.press_ctrl_c()
        terminal.read()
        assert re.fullmatch(rf"{SAYS}\^CShutting down\.\.\.\s*", terminal.text), terminal.text
        assert terminal.process.wait(60) in (0, -signal.SIGINT)
        assert not any(kernel.is_running() for kernel in kernels)
    finally:
        terminal.close()


def test_a_port_that_is_taken_and_settings_for_other_projects(clone: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".jupyter").mkdir(parents=True)
    (home / ".jupyter" / "jupyter_server_config.py").write_text(
        "c.ServerApp.root_dir = '/usr'\nc.ServerApp.default_url = '/tree'\n"
    )
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "autograder", "lab", f"--port={port}"]
        terminal = Terminal(*command, cwd=clone / "solutions", env=environment(home))
        try:
            found = terminal.read(until=SAYS)
            assert found, terminal.text
            assert terminal.text == found[0]
            assert found[2] != str(port)
            assert found[3] == "notebooks/README.md"
            (info,) = (home / ".local/share/jupyter/runtime").glob("jpserver-*.json")
            assert json.loads(info.read_text())["root_dir"] == str(clone)
        finally:
            terminal.close()


def test_ctrl_c_ends_it_whatever_still_waits_in_it(clone: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".jupyter").mkdir(parents=True)
    (home / ".jupyter" / "jupyter_server_config.py").write_text(
        "import atexit, threading\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "atexit.register(print, 'cleaned up')\n"
    )
    command = [sys.executable, "-m", "autograder", "lab", "--no-browser", "--port=0"]
    terminal = Terminal(*command, cwd=clone, env=environment(home))
    try:
        found = terminal.read(until=SAYS)
        assert found, terminal.text
        wait_for(found[1])
        terminal.press_ctrl_c()
        assert terminal.process.wait(60) == 0
        assert terminal.read(until="cleaned up")
        assert not list((home / ".local/share/jupyter/runtime").glob("jpserver-*.json"))
    finally:
        terminal.close()


# What an instructor sees, and a learner doesn't.


def panels(window: Page) -> list[str]:
    """What of nbgrader's is around a notebook, but for the Validate button."""
    expect(window.get_by_role("button", name="Validate")).to_be_visible()
    names = {
        "menu": window.get_by_role("menuitem", name="Nbgrader"),
        "sidebar": window.get_by_role("tab", name="Create Assignment"),
    }
    return [name for name, place in names.items() if place.count()]


@pytest.fixture
def instructors(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path, "--instructor") as server:
        yield server


def test_an_instructor_sees_panels_that_a_learner_does_not(
    instructors: Server, jupyterlab: Server, window: Page
) -> None:
    window.goto(instructors.address(LESSON, "panels"))
    assert panels(window) == ["menu", "sidebar"]
    assert instructors.status("formgrader") == 200

    window.goto(jupyterlab.address(LESSON, "panels"))
    assert panels(window) == []
    assert window.locator(".jp-Dialog").count() == 0
    assert window.locator(".Toastify__toast").count() == 0
    assert jupyterlab.status("formgrader") == 404


# Where the learner left off


def begin(path: Path, *, at: int, passed: tuple[str, ...] = ()) -> Path:
    """A lesson with one exercise that somebody has worked on at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs = [{"output_type": "stream", "name": "stdout", "text": "5"}]
    cell = {"cell_type": "code", "source": "2 + 3", "execution_count": 1, "outputs": outputs}
    path.write_text(json.dumps({"cells": [cell]}))
    if passed:
        from autograder import progress

        progress.remember(path, path.parent.name, {"a": "a" in passed, "b": "b" in passed})
    os.utime(path, (at, at))
    return path


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name in ("01_one", "02_two"):
        lesson = tmp_path / "notebooks" / name / "lesson.ipynb"
        lesson.parent.mkdir(parents=True)
        lesson.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": []}]}))
    (tmp_path / "notebooks" / "README.md").write_text("# Hooks")
    return tmp_path


def test_at_first_it_is_the_first_page(course: Path) -> None:
    assert open_lab.first_page(course) == "notebooks/README.md"


def test_it_is_the_lesson_that_was_saved_last(course: Path) -> None:
    begin(course / "notebooks/01_one/lesson.ipynb", at=2_000)
    begin(course / "notebooks/02_two/lesson.ipynb", at=1_000)
    assert open_lab.first_page(course) == "notebooks/01_one/lesson.ipynb"
    begin(course / "my hooks/lesson.ipynb", at=3_000)
    assert open_lab.first_page(course) == "my hooks/lesson.ipynb"


def test_a_finished_lesson_is_left_alone(course: Path) -> None:
    begin(course / "notebooks/01_one/lesson.ipynb", at=2_000, passed=("a", "b"))
    assert open_lab.first_page(course) == "notebooks/README.md"
    begin(course / "notebooks/02_two/lesson.ipynb", at=1_000, passed=("a",))
    assert open_lab.first_page(course) == "notebooks/02_two/lesson.ipynb"


def test_masters_and_broken_files_are_no_lessons(course: Path) -> None:
    begin(course / "solutions/lesson.ipynb", at=3_000)
    for number, text in enumerate(["", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000]):
        (course / "notebooks/01_one" / f"{number}.ipynb").write_text(text)
    assert open_lab.first_page(course) == "notebooks/README.md"


def test_the_course_is_found_from_within(
    course: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert open_lab.find_root(course / "notebooks" / "01_one") == course
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert open_lab.find_root(elsewhere) == ROOT  # the clone that the package stands in


def test_other_commands_take_no_strange_arguments() -> None:
    command = [sys.executable, "-m", "autograder", "check", "x.ipynb", "--port=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unrecognized arguments: --port=1" in done.stderr
