"""Strangers' notebooks run here and nothing happens: every attack, in tiers A and B.

What became of an attack is looked at from outside: files are as they were, nothing was accepted,
no process is left, and what a right answer in the same notebook gives is there.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import subprocess
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from errno import EACCES, ENOSYS, EPERM, EXDEV
from pathlib import Path
from typing import Any

import cheats
import numpy
import psutil
import pytest
from attacks import Attack, arguments, calls, files, floods, network, processes
from attacks.rows import ROWS
from classroom import LESSON, ROOT
from conftest import need

from autograder.course import Course, Plan, PlanCell, parse_cells
from autograder.desk import judging
from autograder.engine import Limits, Worker
from autograder.marking import Observations

pyseccomp = pytest.importorskip("pyseccomp", reason="walls need Linux")

FAMILIES = {
    module.__name__.rpartition(".")[2]: module.ATTACKS
    for module in (arguments, calls, files, floods, network, processes)
}
ATTACKS = {
    f"{family}: {attack.name}": attack for family, found in FAMILIES.items() for attack in found
}
PRELUDE = """
import ctypes, os, subprocess
target, numbers = {target!r}, {numbers!r}
libc = ctypes.CDLL(None, use_errno=True)
blank, text = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(b"/user")
here, me = os.getcwd().encode(), os.getpid()
def call(name, *arguments):
    made = libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a
                          for a in (numbers[name], *arguments)))
    if made < 0:
        raise OSError(ctypes.get_errno(), name)
    return made
"""
TRY = """
def attack():
{body}
try:
    result = attack()
    outcome = ["done", 0, repr(result)[:200]]
except BaseException as error:
    outcome = ["refused", getattr(error, "errno", None) or 0, repr(error)[:200]]
"""
LIMITS = Limits(
    cell_seconds=10,
    notebook_seconds=60,
    memory_bytes=3 * 2**30,
    file_bytes=16 * 2**20,
    disk_bytes=32 * 2**20,
    files=2_000,
)


LIBRARY = numpy.__file__  # whose path is the same on both sides of the wall


def times(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mode, state.st_mtime_ns


def made_in(folder: str) -> bool:
    return Path(folder, "autograder-attack").exists()


@dataclass
class Outside:
    """What an attack may want: nothing of it must ever change."""

    folder: Path
    process: subprocess.Popen[bytes]
    listener: socket.socket
    datagrams: socket.socket

    def target(self) -> dict[str, Any]:
        return {
            "secret": str(self.folder / "secret"),
            "folder": str(self.folder),
            "victims": str(self.folder / "victims"),
            "readable": LIBRARY,
            "tcp": self.listener.getsockname(),
            "datagrams": self.datagrams.getsockname(),
            "process": self.process.pid,
        }

    def state(self) -> dict[str, Any]:
        """All that could have changed; a socket that somebody reached says so."""
        reached = []
        for name, take in (
            ("tcp", self.listener.accept),
            ("datagrams", lambda: self.datagrams.recv(99)),
        ):
            with contextlib.suppress(BlockingIOError):
                take()
                reached.append(name)
        return {
            "files": {
                str(path): path.read_bytes() if path.is_file() else None
                for path in sorted(self.folder.rglob("*"))
                if not path.is_socket()
            },
            "mode": times(self.folder / "secret"),
            "library": (Path(LIBRARY).read_bytes(), times(Path(LIBRARY))),
            "made": [name for name in ("/tmp", "/dev/shm") if made_in(name)],
            "reached": reached,
            "process": self.process.poll(),
        }


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    (tmp_path / "secret").write_text("marks of all students")
    (tmp_path / "victims" / "folder").mkdir(parents=True)
    (tmp_path / "victims" / "file").write_text("kept")
    (tmp_path / "victims" / "moved").write_text("kept")
    process = subprocess.Popen(["sleep", "infinity"])
    listener = socket.create_server(("127.0.0.1", 0))
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagrams.bind(str(tmp_path / "socket"))
    with listener, datagrams:
        listener.setblocking(False)
        datagrams.setblocking(False)
        yield Outside(tmp_path, process, listener, datagrams)
    process.kill()
    process.wait()


@pytest.fixture(scope="module", params=["A", "B"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    if request.param == "A":
        need("bubblewrap")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_TEST_SECRET", "of the grader")
        patch.setenv("LD_LIBRARY_PATH", "/of/the/grader")
        patch.setenv("PATH", "/of/the/grader", prepend=os.pathsep)
        with Worker(LIMITS, tier=request.param) as running:
            yield running


def classmate(worker: Worker) -> Callable[[], float]:
    """A function that has the same worker grade a right submission of lesson 1: its share of 1."""
    master = Course(ROOT).master(LESSON)
    reference = judging.run_reference(worker, master)
    plan = judging.make_plan(master, parse_cells(master.path.read_bytes()))
    return lambda: judging.judge(worker, master, plan, reference).score / master.max_score


@pytest.fixture(scope="module")
def honest(worker: Worker) -> Callable[[], float]:
    return classmate(worker)


@pytest.fixture(scope="module")
def bare() -> Iterator[Worker]:
    with Worker(LIMITS, tier="C") as running:
        yield running


def run(worker: Worker, attack: Attack, outside: Outside) -> Observations:
    names = {name for name in attack.code.split("'") if name.isidentifier()}
    found = {n: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, n) for n in names}
    numbers = {name: number for name, number in found.items() if number >= 0}
    cells = (
        PlanCell("before", "check", "expect(1 + 1)"),
        PlanCell("prelude", "own", PRELUDE.format(target=outside.target(), numbers=numbers)),
        PlanCell("attack", "own", TRY.format(body=textwrap.indent(attack.code, "    "))),
        PlanCell("outcome", "check", "expect(outcome)"),
    )
    return worker.run(Plan("attack", cells), "secret")


def ending(seen: Observations) -> tuple[str, object]:
    """How an attack ended, and what it says itself."""
    ended = seen.cells["attack"].ended
    if ended in ("crashed", "timed out"):
        return ended, seen.trouble
    (outcome,) = seen.cells["outcome"].values
    assert isinstance(outcome, list)
    return str(outcome[0]), outcome


def error_of(seen: Observations) -> object:
    """The number of the error that an attack ended with."""
    (outcome,) = seen.cells["outcome"].values
    assert isinstance(outcome, list)
    return outcome[1]


def processes_of(worker: Worker) -> list[str]:
    return sorted(p.name() for p in psutil.Process(worker._server.pid).children(recursive=True))


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_happens(
    name: str, worker: Worker, outside: Outside, honest: Callable[[], float]
) -> None:
    attack = ATTACKS[name]
    before = outside.state()
    seen = run(worker, attack, outside)
    expected = attack.inside if worker.tier == "A" else attack.inner
    assert ending(seen)[0] == expected, ending(seen)[1]
    if expected == "refused" and attack.rule.startswith("filter"):
        assert error_of(seen) in (EPERM, ENOSYS), "the filter, and no other error"
    if expected == "refused" and attack.rule.startswith("Landlock") and worker.tier == "B":
        # In tier A most of what it guards is not even there.
        assert error_of(seen) in (EACCES, EXDEV), ending(seen)[1]
    assert outside.state() == before
    assert len(processes_of(worker)) == (1 if worker.tier == "A" else 0), "the server alone"
    assert seen.cells["before"].values == (2,)
    assert honest() == 1


WORD = """
import os
for place in ("..", "../canary", "../data", "../tmp", "."):
    for spoil in (lambda p: os.utime(p, ns=(5, 5)), lambda p: os.chmod(p, 0o711)):
        try: spoil(place)
        except OSError: pass
"""
HEARD = """
import os
heard = []
for place in ("..", "../canary", "../data", "../tmp", "."):
    state = os.stat(place)
    heard += [state.st_atime_ns == 5, state.st_mtime_ns == 5, state.st_mode & 0o777 == 0o711]
"""


def test_no_word_reaches_the_next_notebook(worker: Worker) -> None:
    worker.run(Plan("word", (PlanCell("word", "own", WORD),)), "secret")
    cells = (PlanCell("heard", "own", HEARD), PlanCell("c", "check", "expect(any(heard))"))
    assert worker.run(Plan("heard", cells), "secret").cells["c"].values == (False,)


@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.bare])
def test_without_walls_it_is_an_attack(name: str, bare: Worker, outside: Outside) -> None:
    attack = ATTACKS[name]
    seen = run(bare, attack, outside)
    how, says = ending(seen)
    if attack.rule.startswith("filter") and how == "refused":
        # With such arguments it fails all the same, but the kernel has looked at them.
        assert error_of(seen) not in (EPERM, ENOSYS), says
    else:
        assert how == attack.bare, says


def test_there_are_enough_and_no_two_are_the_same() -> None:
    code = Counter(attack.code for attack in ATTACKS.values())
    assert not [text for text, number in code.items() if number > 1]
    rules = Counter(attack.rule for found in FAMILIES.values() for attack in found)
    assert not [rule for rule, number in rules.items() if number > 1]
    assert len(rules) >= 90
    assert len(ATTACKS) == len(rules)


@pytest.mark.parametrize("row", ROWS)
def test_every_row_of_the_list_is_tried(row: str) -> None:
    def is_there(name: str) -> bool:
        module, _, test = name.partition("::")
        if test:
            return callable(getattr(importlib.import_module(module), test, None))
        return name in cheats.ATTACKS or name in ATTACKS or f"calls: {name}" in ATTACKS

    assert [name for name in ROWS[row] if not is_there(name)] == []


def test_the_list_is_whole() -> None:
    assert [int(row.split()[0]) for row in ROWS] == list(range(1, 27))
