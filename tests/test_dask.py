"""``autograder grade --dask``: notebooks run on a cluster, and nothing else changes.

The cluster is made of processes, as the ``dask`` command starts them.
"""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import distributed
import psutil
import pytest
from classroom import ROOT, make_course, marks, run, wanted
from conftest import program
from runs import Grader, edit, hand_in, hold, submissions

from autograder.course import Cell
from autograder.desk import cluster, cluster_worker, judging
from autograder.desk.cluster import DaskPool
from autograder.desk.judging import Judged, Reference
from autograder.engine import EngineError, Limits, Worker

pytestmark = pytest.mark.long  # a cluster starts for it, and each of its workers warms

DASK = str(Path(sys.executable).with_name("dask"))
STUDENTS = ["ada", "chen", "dara", "gus"]
NOBODY = "tcp://127.0.0.1:1"
PATIENT = Limits(cell_seconds=200, notebook_seconds=250)  # as Grader's, so that results are kept


class Cluster:
    """A scheduler and two worker processes. Use as a context manager.

    Args:
        folder: where they work, with their temporary files.
        hidden: a folder that the workers see empty, where bubblewrap is there.
    """

    def __init__(self, folder: Path, hidden: Path | None = None) -> None:
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self._folder = folder
        self._environment = os.environ | {
            "TMPDIR": str(self.temporary),
            # The tests, too: for the functions below that end a worker.
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
            # One worker that dies is enough to blame a task: quick, and hard on who is near.
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
        }
        options = ["--no-dashboard", "--scheduler-file", "scheduler.json"]
        bwrap = program("bubblewrap") if hidden else None
        hide = [bwrap, "--dev-bind", "/", "/", "--tmpfs", str(hidden)] if bwrap else []
        # Where the tests themselves are killed, the cluster ends some time later.
        scheduler = [
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--idle-timeout",
            "15 minutes",
        ]
        worker = ["worker", "--nworkers", "2", "--nthreads", "1", "--death-timeout", "60"]
        self._processes = [
            self._start([DASK, *scheduler, *options]),
            self._start([*hide, DASK, *worker, *options]),
        ]
        self.client = distributed.Client(
            scheduler_file=str(folder / "scheduler.json"), set_as_default=False, timeout=200
        )
        self.client.wait_for_workers(2, timeout=200)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    def pids(self) -> dict[str, int]:
        """The workers' process numbers by their addresses."""
        return dict(self.client.run(os.getpid))

    def busy(self) -> list[str]:
        """Addresses of the workers that run something."""
        return [worker for worker, tasks in self.client.processing().items() if tasks]

    def warm_servers(self) -> list[psutil.Process]:
        return [p for p in self._all() if "autograder.engine.server" in " ".join(_command(p))]

    def _all(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                # A warm server has a folder of its own below this one.
                if process.environ().get("TMPDIR", "").startswith(str(self.temporary)):
                    found.append(process)
        return found

    def kill_scheduler(self) -> None:
        self._processes[0].kill()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        for process in [*self._processes, *self._all()]:
            process.kill()
        for process in self._processes:
            process.wait()


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def workers(base: Path) -> Iterator[Cluster]:
    hidden = base / "once"
    hidden.mkdir()
    with Cluster(base / "cluster", hidden) as started:
        yield started


@pytest.fixture(scope="module")
def once(base: Path, workers: Cluster) -> Path:
    """A course graded once, on the cluster: don't write to it."""
    course = make_course(base / "once", STUDENTS)
    with Grader(course, "--dask", workers.address, "--json", "out.json", patient=True) as grader:
        code = grader.exit_code()
        (course / "said").write_text(grader.said())
        assert code == 0, grader.said()
        assert not grader.left_behind()
    return course


@pytest.fixture
def course(once: Path, tmp_path: Path) -> Path:
    """A copy of it, in which only what is handed in anew is to run."""
    return Path(shutil.copytree(once, tmp_path / "course"))


def test_marks_and_sentences_are_those_of_a_local_run(once: Path) -> None:
    assert marks(once) == {student: wanted(student) for student in STUDENTS}
    found = submissions(once / "out.json")
    assert {student: found[student]["status"] for student in STUDENTS} == {
        **dict.fromkeys(STUDENTS, "graded"),
        "gus": "unreadable",
    }
    messages = {e["id"]: e["message"] for e in found["dara"]["exercises"]}
    assert "You stored a whole tuple" in messages["pre_hook"], "the lesson's own words"
    assert not any(submission["kept"] for submission in found.values())


@pytest.mark.needs("bubblewrap")
def test_workers_see_nothing_of_the_course(once: Path, workers: Cluster) -> None:
    assert os.listdir(once)  # noqa: PTH208 (what the workers run)
    assert list(workers.client.run(os.listdir, str(once)).values()) == [[], []]


def test_nothing_of_dasks_own_is_on_the_screen(once: Path) -> None:
    said = (once / "said").read_text().splitlines()
    ours = r"grading \d+ submissions|2 notebooks at a time|\d of \d done, .*"
    assert [line for line in said if not re.fullmatch(ours, line)] == []


def test_what_is_kept_needs_no_cluster(course: Path) -> None:
    assert run(course, "--dask", NOBODY, limits=PATIENT, tier="B") == 0
    assert marks(course) == {student: wanted(student) for student in STUDENTS}


def test_a_worker_that_dies_loses_nothing(course: Path, workers: Cluster) -> None:
    gate = hold(course, "held")
    for student in ("new1", "new2", "new3"):
        hand_in(course, student, "chen")
    with Grader(course, "--dask", workers.address, "--json", "out.json", patient=True) as grader:
        assert grader.until(lambda: grader.done() == len(STUDENTS) + 3), grader.said()
        (busy,) = workers.busy()
        os.kill(workers.pids()[busy], signal.SIGKILL)
        gate.touch()
        assert grader.exit_code() == 0, grader.said()
        assert "Traceback" not in grader.said() and "distributed" not in grader.said()
        assert not grader.left_behind()
    expected = {student: wanted(student) for student in STUDENTS}
    new = {student: wanted("chen") for student in ("new1", "new2", "new3")}
    assert marks(course) == expected | new | {"held": wanted("ada")}


KILLS = "# ends the Dask worker that runs this"


def judge_or_die(worker: Worker, reference: Reference, cells: Sequence[Cell]) -> Judged:
    """As ``judging.judge_by``, but some submissions end the process that it runs in."""
    if any(KILLS in cell.source for cell in cells):
        os.kill(os.getpid(), signal.SIGKILL)
    return judging.judge_by(worker, reference, cells)


def test_a_submission_that_ends_its_workers_has_crashed_and_nobody_else(
    course: Path, workers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(hand_in(course, "killer"), "hook_answer", lambda source: f"{source}\n{KILLS}")
    others = ["aaa", "bbb", "lll", "zzz"]
    for student in others:
        hand_in(course, student, "chen")
    monkeypatch.setattr(judging, "judge_by", judge_or_die)
    assert (
        run(course, "--dask", workers.address, "--json", "out.json", limits=PATIENT, tier="B") == 0
    )
    found = submissions(course / "out.json")
    assert found["killer"]["status"] == "crashed" and found["killer"]["score"] == 0
    assert "Dask worker" in found["killer"]["notes"][0]
    assert {found[student]["status"] for student in others} == {"graded"}
    expected = {student: wanted(student) for student in STUDENTS}
    expected |= {student: wanted("chen") for student in others}
    assert marks(course) == expected | {"killer": dict.fromkeys(wanted("ada"), 0.0)}


def test_ctrl_c_ends_what_runs_on_the_cluster(course: Path, workers: Cluster) -> None:
    hold(course, "held")
    with Grader(course, "--dask", workers.address, patient=True) as grader:
        assert grader.until(lambda: workers.busy() and workers.warm_servers()), grader.said()
        grader.interrupt()
        assert grader.exit_code() == 130, grader.said()
        assert "same command" in grader.said().splitlines()[-1]
        assert "Traceback" not in grader.said() and "distributed" not in grader.said()
        assert not grader.left_behind()
    _, alive = psutil.wait_procs(workers.warm_servers(), timeout=60)
    assert not alive and not list(workers.temporary.glob("autograder-*"))


# Clusters that can't be used


def told(course: Path, address: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said where something must run, and can't."""
    if not (course / "submitted" / "new").exists():
        hand_in(course, "new")
    assert run(course, "--dask", address, limits=PATIENT, tier="B") == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said and "distributed." not in said
    assert marks(course) == {student: wanted(student) for student in STUDENTS}
    return said.splitlines()[-1]


@pytest.mark.parametrize("address", [NOBODY, "localhost", "http://localhost:8787", "a dashboard"])
def test_where_no_scheduler_answers(
    course: Path,
    address: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1.0)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    if address == "a dashboard":
        address = f"tcp://127.0.0.1:{server.server_port}"
    said = told(course, address, capsys)
    assert f"no Dask scheduler answers at {address}" in said and "`dask scheduler`" in said
    server.shutdown()
    server.server_close()


def test_a_scheduler_without_workers_and_a_worker_for_a_scheduler(
    course: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workers: Cluster,
) -> None:
    worker = next(iter(workers.pids()))
    assert "a Dask worker does" in told(course, worker, capsys)
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1.0)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        said = told(course, empty.scheduler_address, capsys)
    assert "has no workers" in said and "`dask worker tcp://" in said


def test_workers_with_another_version(
    course: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workers: Cluster,
) -> None:
    here = {**cluster_worker.installed(), "torch": "9.9"}
    monkeypatch.setattr(cluster_worker, "installed", lambda: here)
    said = told(course, workers.address, capsys)
    assert "has torch 2." in said and "where 9.9 is wanted" in said
    assert "pip install" in said


def test_without_the_package_for_it(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "autograder.desk.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install -c constraints.txt -e '.[dask]'" in told(course, NOBODY, capsys)


# The pool alone


def die_once(worker: Worker, mark: str) -> int:
    """End the process that this runs in, the first time."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 20


def add(worker: Worker, first: int, second: int) -> int:
    """A sum, where ``second`` is no zero."""
    if second == 0:
        raise ValueError("zero")
    return first + second


@pytest.mark.long
@pytest.mark.timeout(900)
def test_results_that_others_wait_for(workers: Cluster, tmp_path: Path) -> None:
    with DaskPool(workers.address) as pool:
        first = pool.submit(die_once, str(tmp_path / "mark"))
        sums = [pool.submit(add, first, number) for number in range(5)]
        late = pool.submit(add, sums[1], sums[2])
        assert [one.result() for one in sums[1:]] == [21, 22, 23, 24]
        assert late.result() == 43
        with pytest.raises(ValueError, match="zero"):
            pool.submit(add, sums[0], 1).result()
    assert (tmp_path / "mark").exists()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_where_all_workers_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster, "_ALONE_SECONDS", 0.5)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as leaving,
        DaskPool(leaving.scheduler_address) as pool,
    ):
        assert pool.submit(add, 1, 2).result() == 3
        leaving.scale(0)
        with pytest.raises(EngineError, match="dask worker tcp://"):
            while True:
                pool.submit(add, 1, 2).result()
        with pytest.raises(EngineError, match="dask worker tcp://"):
            pool.submit(add, 1, 2).result()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_cluster_that_goes_away(course: Path, tmp_path: Path) -> None:
    hold(course, "held")
    hand_in(course, "new")
    with (
        Cluster(tmp_path / "cluster") as leaving,
        Grader(course, "--dask", leaving.address, "--json", "out.json", patient=True) as grader,
    ):
        assert grader.until(lambda: grader.done() == len(STUDENTS) + 1), grader.said()
        leaving.kill_scheduler()
        assert grader.exit_code() == 2, grader.said()
        assert "Traceback" not in grader.said() and "distributed" not in grader.said()
    found = submissions(course / "out.json")
    assert found["held"]["status"] == "not graded"
    assert "scheduler" in found["held"]["notes"][0] and "went away" in found["held"]["notes"][0]
    assert marks(course)["new"] == wanted("ada")
