"""Tier D, forced on Linux: macOS and Windows run notebooks in kernels, with limits of time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from classroom import EXPECTED, LESSON, ROOT, make_course, marks, run, wanted
from traitlets.log import get_logger

from autograder.cli import main
from autograder.course import Course, Master, Plan, PlanCell, parse_cells
from autograder.desk import checking, judging
from autograder.engine import EngineError, Limits, Worker, start_worker, tiers
from autograder.engine.unforked import Unforked

LIMITS = Limits(cell_seconds=5, notebook_seconds=120)


@pytest.fixture
def worker() -> Iterator[Worker]:
    with start_worker(LIMITS, tier="D") as running:
        yield running
    assert not [p for p in psutil.Process().children() if "ipykernel_launcher" in p.cmdline()]


def plan(*sources: str, role: str = "own") -> Plan:
    cells = [PlanCell(f"cell{n}", role, source) for n, source in enumerate(sources)]  # type: ignore[arg-type]
    return Plan("plan", (*cells, PlanCell("end", "check", "expect(found)")))


def test_cells_run_as_they_do_in_a_fork(worker: Worker) -> None:
    seen = worker.run(
        plan(
            "found = []\nprint('said')\n1 + 1",
            "import asyncio\nawait asyncio.sleep(0)\nfound.append('awaited')",
            "%time found.append('magic')",
            "1 / 0",
            "found.append(asyncio.iscoroutinefunction(input))",
            "input()",
        ),
        "secret",
    )
    assert seen.cells["end"].values == (["awaited", "magic", False],)
    assert [out["output_type"] for out in seen.cells["cell0"].outputs] == [
        "stream",
        "execute_result",
    ]
    stopped = seen.cells["cell3"].error
    assert stopped is not None and stopped.type_name == "ZeroDivisionError"
    assert seen.cells["cell5"].ended == "error"
    assert seen.trouble == ()


def test_a_cell_that_loops_or_ends_its_process_fails_alone(worker: Worker) -> None:
    seen = worker.run(
        plan("found = 1", "while True: pass", "import os; os._exit(0)", "found += 1"), "secret"
    )
    assert not get_logger().disabled, "it is nbgrader's too"
    assert seen.cells["cell1"].ended == "timed out"
    assert seen.cells["cell2"].ended == "crashed"
    assert seen.cells["end"].values == (2,)


def test_a_report_that_a_cell_makes_itself_is_none(worker: Worker) -> None:
    forged = (
        "from autograder.engine.in_kernel import Report\n"
        "import autograder.engine.in_kernel as mine\n"
        "mine.run = lambda number: Report({'cell': 'end', 'values': 'all', 'outputs': []})"
    )
    seen = worker.run(plan("found = 1", forged), "secret")
    assert seen.cells["end"].ended == "crashed"


def test_files_are_there(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("1,2")
    (tmp_path / "helper.py").write_text("value = 3")
    seen = worker.run(
        plan("import helper\nfound = [open('data/x.csv').read(), helper.value]"),
        "secret",
        files=tmp_path,
    )
    assert seen.cells["end"].values == (["1,2", 3],)


def test_a_stopped_worker_says_so() -> None:
    worker = Unforked(LIMITS)
    worker.stop()
    with pytest.raises(EngineError, match="stopped"):
        worker.run(plan("found = 1"), "secret")


@pytest.fixture(scope="module")
def master() -> Master:
    return Course(ROOT).master(LESSON)


def test_the_lessons_solution_gets_all_points(worker: Worker, master: Master) -> None:
    reference = judging.run_reference(worker, master)
    cells = parse_cells(master.path.read_bytes())
    judged = judging.judge(worker, master, cells, reference)
    assert judged.score == master.max_score, [v.message for v in judged.verdicts]
    assert judged.tier == "D"


def test_a_class_is_graded_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.cli.best", lambda: "D")
    folder = make_course(tmp_path / "course", ["chen"])
    assert run(folder, tier="D") == 2
    assert "tier D: not contained" in capsys.readouterr().err
    assert not (folder / "gradebook.db").exists()
    limits = Limits(cell_seconds=60, notebook_seconds=300)
    assert run(folder, "--unconfined", "--jobs", "1", limits=limits, tier="D") == 0
    assert EXPECTED["chen"][0] == "graded"
    assert marks(folder)["chen"] == wanted("chen")


def test_ones_own_notebook_is_checked_and_the_tier_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (tiers, checking):
        monkeypatch.setattr(module, "best", lambda: "D")
    code = main(["check", str(ROOT / "solutions" / LESSON / "add_and_model.ipynb"), "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert '"tier": "D"' in out
    assert "note: the notebook is not contained" in err


def test_nothing_that_only_unix_has_is_imported() -> None:
    program = (
        "import sys\n"
        "for name in ('fcntl', 'resource', 'termios', 'landlockpy', 'pyseccomp'):\n"
        "    sys.modules[name] = None\n"
        "import autograder.cli, autograder.desk.checking, autograder.desk.pool\n"
        "import autograder.engine.cells, autograder.engine.starting\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
