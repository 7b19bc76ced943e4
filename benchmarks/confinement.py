"""What confinement costs: the same submissions in each tier, turn by turn."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from autograder.course import Course, Plan, PlanCell, parse_cells
from autograder.desk import judging
from autograder.engine import Limits, Tier, Worker, best

from . import measure

TIERS: tuple[Tier, ...] = ("A", "B", "C")
# A job with one cell that does nothing: what is left is the way to a confined process and back.
NOTHING = Plan("nothing", (PlanCell("nothing", "given", ""),))


class _Clock(Worker):
    """A worker that notes how long each job took to a confined process."""

    def __init__(self, tier: Tier) -> None:
        super().__init__(tier=tier)
        self.seconds: list[float] = []

    def _start(self, *arguments: Any) -> None:
        self._started = time.perf_counter()
        super()._start(*arguments)

    def _see_walls(self, fd: int) -> None:
        super()._see_walls(fd)
        self.seconds.append(time.perf_counter() - self._started)


LOOP = Plan("loop", (PlanCell("loop", "own", "while True: pass"),))
SHORT = Limits(cell_seconds=0.5)


def _to_kill(tier: Tier) -> list[float]:
    """Milliseconds from the end of a loop's time until nothing is left of it."""
    with Worker(SHORT, tier=tier) as worker:
        worker.run(NOTHING, "secret")
        took = [_timed(lambda: worker.run(LOOP, "secret")) for _ in range(10)]
    # A second run, without the loop, and the start of both are in it.
    return [1000 * (seconds - SHORT.cell_seconds) for seconds in took]


def _timed(task: Callable[[], object]) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=60, help="submissions in the class")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if best() != "A":
        parser.error("bubblewrap, Landlock and seccomp are needed (autograder doctor)")
    master = Course(measure.ROOT).master(measure.LESSON)
    bank = [text for text in measure.submissions() if "while True" not in text]
    texts = bank[:: max(1, len(bank) // args.size)]
    plans = [judging.make_plan(master, parse_cells(text.encode())) for text in texts]
    workers = {tier: _Clock(tier) for tier in TIERS}
    jobs: dict[Tier, list[float]] = {tier: [] for tier in TIERS}
    rounds: dict[Tier, list[float]] = {tier: [] for tier in TIERS}
    try:
        references = {t: judging.run_reference(w, master) for t, w in workers.items()}
        for worker in workers.values():
            worker.seconds.clear()
        for _ in range(args.rounds):
            took = dict.fromkeys(TIERS, 0.0)
            for plan in plans:  # turn by turn, so that a busy moment hits all of them
                for tier, worker in workers.items():
                    reference = references[tier]
                    judge = judging.judge
                    took[tier] += _timed(lambda: judge(worker, master, plan, reference))  # noqa: B023
            for tier, seconds in took.items():
                rounds[tier].append(seconds / len(plans))
        for _ in range(40):
            for tier, worker in workers.items():
                jobs[tier].append(_timed(lambda: worker.run(NOTHING, "secret")))  # noqa: B023
    finally:
        for worker in workers.values():
            worker.close()
    rate = {tier: statistics.median(times) for tier, times in rounds.items()}
    rows = []
    for tier, worker in workers.items():
        confined = [1000 * seconds for seconds in worker.seconds]
        empty = [1000 * seconds for seconds in jobs[tier]]
        rows += [
            (f"tier {tier}: job to confined process, ms", measure.spread(confined)),
            (f"tier {tier}: a job that does nothing, to its end, ms", measure.spread(empty)),
            (f"tier {tier}: a submission, one job, seconds", measure.spread(rounds[tier])),
        ]
    rows += [
        (f"tier {t}: a loop is over, ms after its time was", measure.spread(_to_kill(t)))
        for t in TIERS
    ]
    for tier in ("A", "B"):
        rows.append((f"tier {tier}: share of the unconfined rate", f"{rate['C'] / rate[tier]:.0%}"))
    measure.write(
        "confinement",
        rows,
        [f"{len(plans)} submissions, {args.rounds} times in each tier, turn by turn."],
    )


if __name__ == "__main__":
    main()
