"""Long: frames fuzzed for ten minutes; 5,000 submissions, one in ten of them an attack."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from pathlib import Path
from statistics import median

import psutil
import pytest
from conftest import need
from test_attacks import ATTACKS, LIMITS, Outside, classmate, ending, outside, processes_of
from test_attacks import run as run_attack
from test_claims import CELL, GOOD

from autograder.engine import Worker, claims, frames
from autograder.marking import BadValue, CellRun

pytestmark = pytest.mark.long
__all__ = ["outside"]  # the fixture

FUZZ_SECONDS = 600
SUBMISSIONS = 5_000
ONE_IN = 10
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
def test_any_bytes_are_a_claim_or_refused() -> None:
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
    print(f"frames: {dict(seen)}")
    assert set(seen) == {"taken", "Closed", "BadFrame", "BadValue"}


def resources(worker: Worker) -> dict[str, object]:
    """What must be the same after any number of submissions."""
    return {
        "processes": processes_of(worker),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "of the server": sum(p.num_fds() for p in servers(worker)),
        "mounts": Path("/proc/self/mounts").read_text().count("\n"),
        "threads": psutil.Process().num_threads(),
    }


def servers(worker: Worker) -> list[psutil.Process]:
    own = psutil.Process(worker._server.pid)
    return own.children() or [own]


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("tier", ["A", "B"])
def test_a_long_day(tier: str, outside: Outside) -> None:
    if tier == "A":
        need("bubblewrap")
    # Those that end by the clock would take hours.
    attacks = [a for a in ATTACKS.values() if "timed out" not in (a.inside, a.inner)]
    dice = random.Random(6)
    before = outside.state()
    endings: Counter[str] = Counter()
    memory: list[float] = []
    with Worker(LIMITS, tier=tier) as worker:  # type: ignore[arg-type]
        honest = classmate(worker)
        at_first = resources(worker)
        for number in range(SUBMISSIONS):
            if number % ONE_IN == 0:
                attack = dice.choice(attacks)
                seen = run_attack(worker, attack, outside)
                expected = attack.inside if tier == "A" else attack.inner
                assert ending(seen)[0] == expected, (attack.name, ending(seen))
                endings[expected] += 1
            else:
                assert honest() == 1, number
                endings["honest"] += 1
            if number % (SUBMISSIONS // SAMPLES) == 0:
                memory.append(sum(p.memory_info().rss for p in servers(worker)) / 2**20)
        assert resources(worker) == at_first
    # The first attacks of each kind compile what the server keeps.
    early, late = median(memory[5:10]), median(memory[-5:])
    print(f"tier {tier}: {dict(endings)}; MB of the server: {early:.1f} to {late:.1f}")
    assert late <= early * 1.05, memory
    assert outside.state() == before
