"""Warm workers behind the interface of ``concurrent.futures``: the local pool.

What grading needs of a pool is :class:`Pool`, so that a cluster can stand in its place
(:mod:`autograder.desk.cluster`).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from autograder.engine import (
    MEANING,
    EngineError,
    Limits,
    Tier,
    Worker,
    WorkerLost,
    best,
    exposes,
    start_worker,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Setup:
    """How the workers of a pool are made.

    Attributes:
        limits: what one notebook may take.
        figures: draw the lessons' pictures.
        unconfined: run notebooks even where nothing confines them.
        tier: how they are confined; the best that works on the worker's machine where it is None.
    """

    limits: Limits = field(default_factory=Limits)
    figures: bool = False
    unconfined: bool = False
    tier: Tier | None = None

    def worker(self) -> Worker:
        """A new worker, which starts to warm at once.

        Raises:
            EngineError: nothing would confine it.
        """
        tier = self.tier or best()
        if tier not in CONFINED and not self.unconfined:
            raise EngineError(unconfined(tier))
        return start_worker(self.limits, figures=self.figures, tier=tier)


EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "class"
"""The example class, which runs where nothing confines it: we wrote it."""

CONFINED = ("A", "B")
"""The tiers in which strangers' notebooks may run."""


def exposed(root: Path) -> str:
    """Why no notebook may run for the course in ``root``: it could read it; else ''."""
    if best() in CONFINED and (seen := exposes(root)):
        return f"{root}: notebooks may read {seen}, where programs are; move the course elsewhere"
    return ""


def unconfined(tier: Tier) -> str:
    """Why notebooks are not run in a tier below B, and what to do."""
    return (
        f"notebooks can't be confined here, so none was run (tier {tier}: {MEANING[tier]}). "
        "`autograder doctor` says what is missing and how to get it; --unconfined, or "
        "c.Engine.unconfined = True for nbgrader's own commands, runs them all the same"
    )


class Pool(Protocol):
    """Runs tasks, each with a warm worker of its own. Use as a context manager."""

    @property
    def size(self) -> int:
        """How many tasks run at a time."""

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """Run ``function(worker, *args)``; tasks start in the order they come in.

        Of the arguments, futures of this pool stand for their results. A task whose worker breaks
        is run again with another one, so it must not mind that; the future raises
        :class:`WorkerLost` when that happened each time.
        """

    def close(self) -> None:
        """Stop at once: what has not started never will, and what runs is ended."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Place:
    """One worker at a time: where it breaks, another takes its place."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._lock = threading.Lock()
        self._closed = False
        self._worker = setup.worker()

    def run(self, function: Callable[..., T], *args: Any) -> T:
        """Run ``function(worker, *args)``, once more with a new worker where the first breaks.

        Raises:
            WorkerLost: both broke.
        """
        try:
            return function(self._worker, *args)
        except WorkerLost:
            self._replace()
            try:
                return function(self._worker, *args)
            except WorkerLost:
                self._replace()  # the next task finds one that works
                raise

    def _replace(self) -> None:
        broken = self._worker
        with self._lock:
            if self._closed:
                raise EngineError("grading was stopped")
            self._worker = self._setup.worker()
        broken.close()

    def stop(self) -> None:
        """End what runs, from any thread. Nothing runs here afterwards."""
        with self._lock:
            self._closed = True
            self._worker.stop()

    def close(self) -> None:
        """Give the worker up. No other thread may be using it."""
        self.stop()
        self._worker.close()


class LocalPool:
    """Workers on this machine. All of them start to warm at once."""

    def __init__(self, jobs: int, setup: Setup | None = None) -> None:
        setup = setup or Setup()
        self.size = jobs
        self._places: list[Place] = []
        try:
            for _ in range(jobs):
                self._places.append(Place(setup))
        except BaseException:
            for place in self._places:
                place.close()
            raise
        self._idle: queue.SimpleQueue[Place] = queue.SimpleQueue()
        for place in self._places:
            self._idle.put(place)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="grader")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """As :meth:`Pool.submit`."""
        return self._threads.submit(self._run, function, args)

    def _run(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        # A future that is waited for here was submitted earlier, so it runs or has ended.
        values = [arg.result() if isinstance(arg, Future) else arg for arg in args]
        place = self._idle.get()
        try:
            return place.run(function, *values)
        finally:
            self._idle.put(place)

    def close(self) -> None:
        """As :meth:`Pool.close`."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for place in self._places:
            place.stop()
        self._threads.shutdown(wait=True)
        for place in self._places:
            place.close()
