"""The engine against stock nbgrader, against bare IPython, and ``autograder check``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.course import Course, Plan, PlanCell, parse_cells, rebuild
from autograder.desk import judging
from autograder.desk.pool import LocalPool
from autograder.engine import Worker

from . import measure

PROBE = r"""
import pathlib, re
kept = re.findall(r"Private_\w+: +(\d+)", pathlib.Path("/proc/self/smaps_rollup").read_text())
expect([int(kb) for kb in kept])
"""


def stock(texts: list[str]) -> float:
    """Seconds a submission takes ``nbgrader autograde``, its start included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure.stock_course(folder, texts)
        seconds = measure.timed(measure.nbgrader(), "autograde", measure.LESSON, cwd=folder)
        done = len(list(folder.glob("autograded/*/*/*.ipynb")))
        if done != len(texts):
            raise RuntimeError(f"stock nbgrader graded {done} of {len(texts)} submissions")
    return seconds / len(texts)


def ours(texts: list[str], jobs: int) -> list[float]:
    """Seconds of each batch per submission: rebuilt, run and judged, workers warm."""
    master = Course(measure.ROOT).master(measure.LESSON)
    with LocalPool(jobs) as pool:
        reference = pool.submit(judging.run_reference, master).result()

        def one(text: str, worker: Worker) -> float:
            return judging.judge(worker, master, parse_cells(text.encode()), reference).score

        def batch() -> float:
            started = time.perf_counter()
            for future in [pool.submit(lambda w, t=text: one(t, w)) for text in texts]:
                future.result()
            return (time.perf_counter() - started) / len(texts)

        batch()
        return [batch() for _ in range(5)]


def bare(texts: list[str], jobs: int) -> list[float]:
    """The same cells through IPython in forks of a warm process that keep and send nothing."""
    master = Course(measure.ROOT).master(measure.LESSON)
    plans = [rebuild(master, parse_cells(text.encode())) for text in texts]

    def one(number: int) -> list[float]:
        return _bare_process(plans[number::jobs])

    with ThreadPoolExecutor(jobs) as threads:
        rounds = list(threads.map(one, range(jobs)))
    # Both processes ran side by side: a round is as long as the longer of the two.
    return [max(times) / len(texts) for times in zip(*rounds, strict=True)]


def _bare_process(plans: list[Plan]) -> list[float]:
    """Run the plans five times in a process of its own; seconds of each round."""
    import json
    import subprocess

    cells = [[(cell.role, cell.source) for cell in plan.cells] for plan in plans]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bare"],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        check=True,
        cwd=measure.ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
    )
    times: list[float] = json.loads(done.stdout)
    return times


def private_memory(text: str) -> float:
    """MB that only a child has, at the end of the lesson."""
    master = Course(measure.ROOT).master(measure.LESSON)
    plan = rebuild(master, parse_cells(text.encode()))
    plan = Plan(plan.lesson, (*plan.cells, PlanCell("probe", "check", PROBE)))
    with Worker() as worker:
        (sizes,) = worker.run(plan, "secret").cells["probe"].values
    return sum(sizes) / 1024


def check_command() -> tuple[list[float], list[float]]:
    """Seconds of ``autograder check``, and of importing what a lesson needs; turn by turn."""
    path = str(measure.ROOT / "solutions" / measure.LESSON / measure.NOTEBOOK)
    check, imports = [], []
    for _ in range(6):
        imports.append(
            measure.timed(sys.executable, "-c", "import torch, IPython, matplotlib.pyplot")
        )
        check.append(measure.timed(sys.executable, "-m", "autograder", "check", path))
    return check[1:], imports[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stock", type=int, default=6, help="submissions that stock grades")
    parser.add_argument("--size", type=int, default=100, help="submissions in the class")
    args = parser.parse_args()
    bank = [text for text in measure.submissions() if "while True" not in text]
    texts = bank[:: max(1, len(bank) // args.size)]
    jobs = len(os.sched_getaffinity(0))
    step = max(1, len(texts) // args.stock)
    slow = stock(texts[::step][: args.stock])
    fast, plain = ours(texts, jobs), bare(texts, jobs)
    check, imports = check_command()
    middle = sorted(fast)[len(fast) // 2]
    measure.write(
        "engine",
        [
            ("stock `nbgrader autograde`, seconds a submission", f"{slow:.3g}"),
            (f"ours, run and judged, {jobs} jobs, seconds a submission", measure.spread(fast)),
            ("times stock", f"{slow / middle:.0f}"),
            ("the same cells, bare forks of a warm IPython, seconds", measure.spread(plain)),
            ("share of the bare rate", f"{sorted(plain)[len(plain) // 2] / middle:.0%}"),
            ("memory only a running child has, MB", f"{private_memory(texts[0]):.0f}"),
            ("`autograder check`, seconds", measure.spread(check)),
            ("import torch, IPython, matplotlib.pyplot, seconds", measure.spread(imports)),
            ("times the imports", f"{sorted(check)[2] / sorted(imports)[2]:.2f}"),
        ],
        [
            f"{len(texts)} submissions, files of the answer bank, each in a solved notebook; stock "
            f"graded {args.stock} of them."
        ],
    )


if __name__ == "__main__":
    main()
