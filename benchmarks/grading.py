"""``autograder grade`` from start to end against stock nbgrader, on a long class, and on Dask."""

from __future__ import annotations

import argparse
import io
import itertools
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import distributed
import psutil

from autograder import cli
from autograder.course import Course, parse_cells
from autograder.desk import judging
from autograder.desk.cluster import DaskPool
from autograder.desk.gradebook import Gradebook
from autograder.desk.recording import Recorder

from . import engine, measure

_BATCHES = 3  # on each new cluster


@dataclass
class Run:
    """What was seen of an ``autograder grade`` from outside.

    Attributes:
        times: when it said that so many submissions were done, seconds after its start.
        memory: MB of the process itself at that time.
        left: processes and temporary files that were still there after its end.
    """

    seconds: float = 0.0
    times: dict[int, float] = field(default_factory=dict)
    memory: dict[int, float] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


@contextmanager
def course(texts: list[str]) -> Iterator[Path]:
    """A course with ``texts`` as its class, and no gradebook yet."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(measure.ROOT / "solutions", folder / "solutions")
        shutil.copy(measure.ROOT / "nbgrader_config.py", folder)
        for number, text in enumerate(texts):
            target = folder / "submitted" / f"student_{number:05}" / measure.LESSON
            target.mkdir(parents=True)
            (target / measure.NOTEBOOK).write_text(text)
        yield folder


def grade(texts: list[str]) -> Run:
    """Grade a class in a new course, watched from outside."""
    seen = Run()
    with course(texts) as folder, tempfile.TemporaryDirectory() as temporary:
        started = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", "autograder", "grade"],
            cwd=folder,
            env=os.environ | {"TMPDIR": temporary},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if said := re.match(r"(\d+) of \d+ done", line):
                    done = int(said.group(1))
                    seen.times[done] = time.perf_counter() - started
                    seen.memory[done] = psutil.Process(process.pid).memory_info().rss / 2**20
        seen.seconds = time.perf_counter() - started
        written = len(list(folder.glob("autograded/*/*/*.ipynb")))
        if process.returncode or written != len(texts):
            raise RuntimeError(f"exit code {process.returncode}, {written} of {len(texts)} graded")
        seen.left = [path.name for path in Path(temporary).iterdir()]
        for other in psutil.process_iter():
            try:
                if other.environ().get("TMPDIR") == temporary:
                    seen.left.append(" ".join(other.cmdline()))
            except psutil.Error:  # ended meanwhile, or somebody else's
                continue
    return seen


def last_against_first(seen: Run) -> float:
    """The rate of the last twentieth over that of the first one after the start."""
    counts = sorted(seen.times)
    first, second, *_, before, last = counts

    def rate(start: int, end: int) -> float:
        return (end - start) / (seen.times[end] - seen.times[start])

    return rate(before, last) / rate(first, second)


def gradebook_share(texts: list[str]) -> list[float]:
    """The gradebook's part of what each submission takes: judging, and recording."""
    spent: dict[str, list[float]] = {"judge": [], "record": [], "write": []}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            started = time.perf_counter()
            result = function(*args)
            spent[name].append(time.perf_counter() - started)
            return result

        return call

    places: list[tuple[Any, str, str]] = [
        (judging, "judge_by", "judge"),
        (Recorder, "record", "record"),
        (Gradebook, "write", "write"),
    ]
    with ExitStack() as stack:
        for owner, attribute, name in places:
            replaced = timed(name, getattr(owner, attribute))
            stack.enter_context(mock.patch.object(owner, attribute, replaced))
        folder = stack.enter_context(course(texts))
        stack.enter_context(redirect_stdout(io.StringIO()))
        code = cli.main(["grade", "--jobs", "1", "--course", str(folder)])
    if code:
        raise RuntimeError(f"exit code {code}")
    whole = statistics.median(spent["judge"]) + statistics.median(spent["record"])
    return [seconds / whole for seconds in spent["write"]]


def on_dask(texts: list[str], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds a submission takes on one local Dask worker and on two, warm, turn by turn.

    Only one cluster is there at a time: an idle one wants its share of the processors too.
    """
    master = Course(measure.ROOT).master(measure.LESSON)
    cells = [parse_cells(text.encode()) for text in texts]

    @contextmanager
    def workers(number: int) -> Iterator[Callable[[], float]]:
        with (
            distributed.LocalCluster(
                n_workers=number, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            DaskPool(cluster.scheduler_address) as pool,
        ):
            reference = pool.submit(judging.run_reference, master)

            def batch() -> float:
                started = time.perf_counter()
                for future in [pool.submit(judging.judge_by, reference, c) for c in cells]:
                    future.result()
                return (time.perf_counter() - started) / len(cells)

            batch()
            yield batch

    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for number, taken in times.items():
            with workers(number) as batch:
                taken += [batch() for _ in range(_BATCHES)]
    return times[1], times[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stock", type=int, default=8, help="submissions that stock grades")
    parser.add_argument("--size", type=int, default=500, help="submissions in the class")
    parser.add_argument("--many", type=int, default=2000, help="submissions in the long class")
    parser.add_argument("--dask", type=int, default=100, help="submissions for the Dask workers")
    parser.add_argument("--rounds", type=int, default=3, help="new clusters for these, of a kind")
    args = parser.parse_args()
    bank = [text for text in measure.submissions() if "while True" not in text]
    texts = list(itertools.islice(itertools.cycle(bank), args.size))
    slow = engine.stock(texts[:: max(1, len(texts) // args.stock)][: args.stock])
    whole = grade(texts)
    # Each twentieth of the long class is the same work, so that their times can be compared.
    part = bank[:: max(1, len(bank) // max(1, args.many // 20))][: max(1, args.many // 20)]
    long = grade(list(itertools.islice(itertools.cycle(part), args.many)))
    share = gradebook_share(bank[:: max(1, len(bank) // args.dask)][: args.dask])
    one, two = on_dask(bank[:: max(1, len(bank) // args.dask)][: args.dask], args.rounds)
    quarters = [n for n in (args.many // 4, args.many // 2, args.many) if n in long.memory]
    jobs = len(os.sched_getaffinity(0))
    measure.write(
        "grading",
        [
            ("stock `nbgrader autograde`, seconds a submission", f"{slow:.3g}"),
            (
                f"`autograder grade`, {args.size} submissions, {jobs} jobs, seconds, start and a "
                "new gradebook included",
                f"{whole.seconds:.1f}",
            ),
            ("times stock", f"{slow * args.size / whole.seconds:.0f}"),
            (f"{args.many} submissions, seconds", f"{long.seconds:.0f}"),
            (
                "... rate of the last twentieth, of that of the first after the start",
                f"{last_against_first(long):.0%}",
            ),
            (
                f"... memory of the grader itself after {', '.join(map(str, quarters))}, MB",
                ", ".join(f"{long.memory[n]:.0f}" for n in quarters),
            ),
            ("... processes and temporary files left", str(len(long.left))),
            ("gradebook's share of judging and recording", measure.spread(share)),
            ("one Dask worker, warm, seconds a submission", measure.spread(one)),
            ("two Dask workers", measure.spread(two)),
            (
                "times one worker",
                f"{statistics.median(one) / statistics.median(two):.2f}",
            ),
        ],
        [
            "Files of the answer bank, each in a solved notebook, repeated where the class is "
            f"larger; stock graded {args.stock} of the {args.size}. The Dask workers rebuild, run "
            "and judge; nothing is recorded.",
            *(f"Left: {name}" for name in long.left),
        ],
    )


if __name__ == "__main__":
    main()
