"""Long: frames fuzzed for ten minutes; 5,000 submissions, one in ten of them an attack."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psutil
import pytest
from classroom import CLASS, EXPECTED, LESSON, ROOT
from conftest import FIGURES, need
from test_attacks import ATTACKS, LIMITS, Outside, ending, outside, processes_of
from test_attacks import run as run_attack
from test_claims import CELL, GOOD

from autograder.course import Course, Master, Plan, parse_cells
from autograder.desk import judging
from autograder.engine import Worker, claims, frames, outer
from autograder.marking import BadValue, CellRun

pytestmark = pytest.mark.long
__all__ = ["outside"]  # the fixture

FUZZ_SECONDS = 600
SUBMISSIONS = 5_000
ONE_IN = 10
WRONG_ONE_IN = 7
SAMPLES = 50
# Tokens that JSON and marking's codec know, and some that are on an edge.
TOKENS = [
    *(b"[", b"]", b"{", b"}", b",", b":", b'"', b"null", b"true", b"NaN", b"-Infinity", b"1e999"),
    *(b'"tensor"', b'"float32"', b'"AAAA"', b'"list"', b'"dict"', b'"raised"', b'"values"'),
    *(b'"\\ud800"', b"\xff\xfe", b"-0", b"9" * 5_000, b"[" * 2_000, b'{"a":' * 2_000, b"\0"),
]


def mutated(dice: random.Random) -> bytes:
    """A good frame, spoilt in a few places."""
    data = bytearray(frames.packed(GOOD))
    for _ in range(dice.randint(1, 6)):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(5):
            case 0:
                data[place : place + dice.randint(0, 9)] = b""
            case 1:
                data[place:place] = dice.choice(TOKENS)
            case 2:
                data[place : place + 1] = dice.randbytes(1)
            case 3:
                other = dice.randrange(len(data) + 1)
                data[place:place] = data[min(place, other) : max(place, other)][:999]
            case 4:  # right in its length again, so that what is inside is looked at
                data[:4] = max(0, len(data) - 4).to_bytes(4, "big")
    return bytes(data[:60_000])  # what a pipe takes at once


@pytest.mark.timeout(FUZZ_SECONDS + 300)
def test_any_bytes_are_a_claim_or_refused(
    record_property: Callable[[str, object], None],
) -> None:
    seed = random.SystemRandom().getrandbits(64)
    dice = random.Random(seed)
    seen: Counter[str] = Counter()
    until = time.monotonic() + FUZZ_SECONDS
    while time.monotonic() < until:
        data = mutated(dice)
        read, write = os.pipe()
        try:
            os.write(write, data)
            os.close(write)
            try:
                frame = frames.receive(read)
                run = claims.cell_run(claims.checked(frame, CELL, whole=False))
                assert isinstance(run, CellRun)
                json.dumps(run.outputs)
                seen["taken"] += 1
            except (frames.Closed, frames.BadFrame, BadValue) as error:
                seen[type(error).__name__] += 1
            except BaseException as error:
                raise AssertionError(f"seed {seed}, frame {data!r}") from error
        finally:
            os.close(read)
    record_property(FIGURES, f"frames: {dict(seen)}")
    assert set(seen) == {"taken", "Closed", "BadFrame", "BadValue"}


def submission_of(master: Master, student: str) -> Plan:
    """What a student of the example class handed in."""
    (path,) = (CLASS / student / LESSON).glob("*.ipynb")
    return judging.make_plan(master, parse_cells(path.read_bytes()))


def resources(worker: Worker) -> dict[str, object]:
    """What must be the same after any number of submissions."""
    (server,) = servers(worker)
    inside = Path(f"/proc/{server.pid}")
    return {
        "processes": processes_of(worker),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "of the server": server.num_fds(),
        "mounts": (inside / "mounts").read_text().splitlines(),
        "files": files_of(inside / f"root{worker._home or outer.HOME}"),
        "threads": psutil.Process().num_threads(),
    }


def files_of(home: Path) -> list[str]:
    """What is in the notebooks' folders; root alone sees into those of another user."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*"))


def servers(worker: Worker) -> list[psutil.Process]:
    own = psutil.Process(worker._server.pid)
    return own.children() or [own]


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("tier", ["A", "B"])
def test_a_long_day(
    tier: str, outside: Outside, record_property: Callable[[str, object], None]
) -> None:
    if tier == "A":
        need("bubblewrap")
    # Those that end by the clock would take hours.
    attacks = [a for a in ATTACKS.values() if "timed out" not in (a.inside, a.inner)]
    dice = random.Random(6)
    before = outside.state()
    endings: Counter[str] = Counter()
    memory: list[tuple[float, float]] = []  # MB: of the server, of this process
    master = Course(ROOT).master(LESSON)
    right = {name: graded for name, (status, graded) in EXPECTED.items() if status == "graded"}
    whole = [name for name, passed in right.items() if len(passed) == len(master.exercises)]
    # fay's loop is ended by the clock.
    students = {name: submission_of(master, name) for name in right if name not in ("fay", "max")}
    with Worker(LIMITS, tier=tier) as worker:  # type: ignore[arg-type]
        reference = judging.run_reference(worker, master)
        at_first = resources(worker)
        for number in range(SUBMISSIONS):
            if number % ONE_IN == 0:
                attack = dice.choice(attacks)
                seen = run_attack(worker, attack, outside)
                expected = attack.inside if tier == "A" else attack.inner
                assert ending(seen)[0] == expected, (attack.name, ending(seen))
                endings[expected] += 1
            else:
                # Those with mistakes are run several times each, so most have none.
                anybody = number % WRONG_ONE_IN == 0
                student = dice.choice(sorted(students if anybody else whole))
                judged = judging.judge(worker, master, students[student], reference)
                passed = [v.exercise for v in judged.verdicts if v.verdict == "passed"]
                assert passed == right[student], (number, student)
                endings["honest"] += 1
            if number % (SUBMISSIONS // SAMPLES) == 0:
                both = (*servers(worker), psutil.Process())
                memory.append(tuple(p.memory_info().rss / 2**20 for p in both))
        assert resources(worker) == at_first
    # The first attacks of each kind compile what the server keeps.
    says = [f"tier {tier}: {dict(endings)}"]
    for name, sizes in zip(("server", "grader"), zip(*memory, strict=True), strict=True):
        early, late = median(sizes[5:10]), median(sizes[-5:])
        says.append(f"MB of the {name}: {early:.1f} to {late:.1f}")
        assert late <= early * 1.05, memory
    record_property(FIGURES, "; ".join(says))
    assert outside.state() == before
