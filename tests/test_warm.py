"""The worker of a process that grades now and then: it ends, and it is there again."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import warm_workers
from classroom import LESSON, NAME, ROOT

from autograder.course import Cell, Course, Master
from autograder.desk import judging
from autograder.desk.pool import Setup
from autograder.desk.warm import Warm
from autograder.engine import EngineError, Limits, best

PATIENT = Setup(Limits(cell_seconds=200, notebook_seconds=250))


@pytest.fixture(scope="module")
def master() -> Master:
    return Course(ROOT).master(LESSON)


@pytest.fixture(scope="module", autouse=True)
def _no_others() -> None:
    warm_workers.end_all()


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """One for all tests, as each start takes seconds."""
    warm = Warm()
    yield warm
    warm.close()


def solved(master: Master, more: str = "") -> list[Cell]:
    """The master as a submission, with a cell of one's own before it."""
    return [Cell(more, True), *(Cell(c.source, c.is_code, c.grade_id) for c in master.cells)]


def servers() -> list[psutil.Process]:
    """Warm processes that this one has started."""
    children = psutil.Process().children()
    return [child for child in children if "autograder.engine.server" in child.cmdline()]


def runs() -> bool:
    """Whether a notebook's process has computed for a while: it can tell nobody outside itself."""
    with contextlib.suppress(psutil.Error):  # it ended meanwhile
        (server,) = servers()
        below = server.children(recursive=True)
        # Behind bubblewrap, its child is the server.
        own = [p for p in below if best() != "A" or p.ppid() != server.pid]
        return any(child.cpu_times().user > 1.0 for child in own)
    return False


def test_one_worker_serves_all_threads_until_it_is_closed(
    warm: Warm, master: Master, tmp_path: Path
) -> None:
    warm.close()
    warm.start(PATIENT)
    with ThreadPoolExecutor(3) as threads:
        judged = threads.map(lambda _: warm.judge(PATIENT, master, solved(master)), range(3))
        assert [one.score for one in judged] == [master.max_score] * 3
        assert len(servers()) == 1

        run = threads.submit(warm.judge, PATIENT, master, solved(master, "while True: pass"))
        while not run.done() and not runs():
            time.sleep(0.05)
        warm.close()
        with pytest.raises(EngineError):
            run.result()
    assert not servers()


def test_what_stops_a_run_leaves_nothing_behind(
    warm: Warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "solutions" / LESSON
    folder.mkdir(parents=True)
    for path in (ROOT / "solutions" / LESSON).iterdir():
        text = path.read_text("utf-8").replace("return output + 5", "return output + five")
        (folder / path.name).write_text(text, "utf-8")
    broken = Course(tmp_path).master(LESSON)
    with pytest.raises(EngineError, match="'hook_answer' of the master stopped with NameError"):
        warm.judge(PATIENT, broken, solved(broken))
    assert not servers()

    path = folder / f"{NAME}.ipynb"
    path.write_text(path.read_text("utf-8").replace("five", "5"), "utf-8")
    mended = Course(tmp_path).master(LESSON)
    warm.start(PATIENT)

    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(judging, "judge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warm.judge(PATIENT, mended, solved(mended))
    assert not servers()
    assert warm.judge(PATIENT, mended, solved(mended)).score == mended.max_score


def test_other_settings_get_another_worker(warm: Warm) -> None:
    warm.close()
    warm.start(PATIENT)
    (first,) = servers()
    warm.start(Setup(Limits(cell_seconds=100)))
    (second,) = servers()
    assert first != second and not first.is_running()
    warm.close()


def test_it_is_given_up_when_nobody_uses_it_and_comes_back(warm: Warm, master: Master) -> None:
    warm.close()  # another test may have left its server, whichever ran here before
    hasty = Warm(idle_seconds=0.01)
    with contextlib.closing(hasty):
        for _ in range(2):
            assert hasty.judge(PATIENT, master, solved(master)).score == master.max_score
            psutil.wait_procs(servers(), timeout=60)
            assert not servers()


@pytest.mark.parametrize("end", ["sys.exit()", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_it_ends_with_its_process(end: str) -> None:
    program = (
        "import os, signal, sys\n"
        "import psutil\n"
        "from autograder.desk.pool import Setup\n"
        "from autograder.desk.warm import Warm\n"
        "Warm().start(Setup())\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        f"{end}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == (0 if "exit" in end else -signal.SIGKILL)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(done.stdout)).wait(timeout=100)
