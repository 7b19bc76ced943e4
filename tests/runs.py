"""``autograder grade`` as a process of its own, watched and ended from outside."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from classroom import CLASS, LESSON, NAME, ROOT

_HERE = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
# As `classroom.run`, in another process: a cell may take longer than a busy machine makes a test.
PATIENT = """
import sys
from pathlib import Path
from classroom import run
from autograder.engine import Limits
limits = Limits(cell_seconds=200, notebook_seconds=250)
sys.exit(run(Path.cwd(), *sys.argv[1:], limits=limits, tier="B"))
"""
_CODE = os.pathsep.join(map(str, (Path(__file__).parent.parent, Path(__file__).parent)))

# It ends itself by SIGKILL at the n-th step of writing: a file put in its place, an SQL statement,
# a commit. One that comes to its end leaves the number of its steps.
DOOMED = """
import os
import signal
import sys
from pathlib import Path
from sqlalchemy import event
from sqlalchemy.engine import Engine
from autograder.cli import main

last, taken = int(sys.argv[1]), 0
replace = Path.replace

def step(*_):
    global taken
    taken += 1
    if taken == last:
        os.kill(os.getpid(), signal.SIGKILL)

def replace_in_two_steps(path, target):
    step()
    replaced = replace(path, target)
    step()
    return replaced

Path.replace = replace_in_two_steps
event.listen(Engine, "after_cursor_execute", step)
event.listen(Engine, "commit", step)
code = main(["grade", *sys.argv[2:]])
Path(os.environ["TMPDIR"]).with_suffix(".steps").write_text(str(taken))
sys.exit(code)
"""


class Grader:
    """A running ``autograder grade``. Use as a context manager, which leaves no process behind.

    Args:
        course: the folder it works in. What it says goes to files beside it, and its temporary
            files too, so that both can be looked at.
        patient: let a cell take minutes, and see whether a file outside is there: tier B.
        doomed: the step of writing at which it ends itself by SIGKILL; 0 counts the steps.
    """

    def __init__(
        self, course: Path, *arguments: str, patient: bool = False, doomed: int | None = None
    ) -> None:
        self.temporary = Path(tempfile.mkdtemp(prefix="tmp-", dir=course.parent))
        self._stderr = self.temporary.with_suffix(".stderr")
        program = ["-m", "autograder", "grade"]
        if patient:
            program = ["-c", PATIENT]
        elif doomed is not None:
            program = ["-c", DOOMED, str(doomed)]
        with self._stderr.open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, *program, *arguments],
                cwd=course,
                env={**os.environ, "TMPDIR": str(self.temporary), "PYTHONPATH": _CODE},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        for process in [self._process, *self.processes()]:
            process.kill()
        self._process.wait()

    def said(self) -> str:
        """What it told on its standard error until now."""
        return self._stderr.read_text("utf-8")

    def steps(self) -> int:
        """How many steps of writing there were in all (where ``doomed`` was 0)."""
        return int(self.temporary.with_suffix(".steps").read_text())

    def done(self) -> int:
        """How many submissions it has told as done."""
        return max((int(n) for n in re.findall(r"(\d+) of \d+", self.said())), default=0)

    def until(self, happened: Callable[[], object]) -> bool:
        """Wait until something happened; False where the grader ended before it did."""
        while not happened():
            if not self.lives(0.01):
                return bool(happened())
        return True

    def lives(self, seconds: float) -> bool:
        """Let it run for some time; whether it still runs then."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the grader alone, as ``kill`` does."""
        self._process.send_signal(number)

    def interrupt(self) -> None:
        """Ctrl-C at a terminal: it reaches the grader and what it started in its process group."""
        os.killpg(self._process.pid, signal.SIGINT)

    def exit_code(self) -> int:
        """Wait for its end."""
        return self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """What it started and what that started, as far as it still runs, in whatever session."""
        found = []
        for process in psutil.process_iter():
            try:
                # A worker's server has its own folder below this one, or runs in bubblewrap.
                if process.environ().get("TMPDIR", "").startswith(str(self.temporary)):
                    found.append(process)
            except psutil.Error:  # ended meanwhile, or somebody else's
                continue
        return found

    def left_behind(self) -> list[object]:
        """Processes that don't end of themselves, and temporary files."""
        _, alive = psutil.wait_procs(self.processes(), timeout=60)
        commands = [process.cmdline() for process in alive]
        return [*commands, *(path.name for path in self.temporary.iterdir())]


def edit(path: Path, grade_id: str, change: Callable[[str], str]) -> None:
    """Change the source of one cell of a notebook."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            cell["source"] = change("".join(cell["source"]))
    path.write_text(json.dumps(notebook), "utf-8")


def hand_in(course: Path, student: str, like: str = "ada") -> Path:
    """Copy somebody's submission of the example class for another student; the notebook."""
    folder = course / "submitted" / student / LESSON
    shutil.copytree(CLASS / like / LESSON, folder)
    return folder / f"{NAME}.ipynb"


def hold(course: Path, student: str) -> Path:
    """Make a submission with full marks whose first answer waits for a file; that file's path."""
    gate = course.parent / f"{course.name}-gate"
    wait = (
        "import pathlib, time\n"
        f"while not pathlib.Path({str(gate)!r}).exists():\n"
        "    time.sleep(0.01)\n"
    )
    edit(hand_in(course, student), "pre_hook_answer", lambda source: wait + source)
    return gate


def submissions(file: Path) -> dict[str, Any]:
    """The submissions in what ``--json`` wrote, by student."""
    out = json.loads(file.read_text("utf-8"))
    return {submission["student"]: submission for submission in out["submissions"]}
