"""A pool of warm workers behind the interface of ``concurrent.futures``.

What grading needs of a pool is ``submit(task) -> Future`` and ``close()``, so that another one (a
cluster) can stand in its place.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from autograder.engine import EngineError, Limits, Worker

T = TypeVar("T")


class LocalPool:
    """Workers on this machine. All of them start to warm at once.

    Args:
        jobs: how many notebooks run at a time.
        limits: what one notebook may take.
        figures: draw the lessons' pictures.
    """

    def __init__(self, jobs: int, limits: Limits | None = None, *, figures: bool = False) -> None:
        self._new_worker = partial(Worker, limits, figures=figures)
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers = {self._new_worker() for _ in range(jobs)}
        self._closed = False
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="grader")

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, task: Callable[[Worker], T]) -> Future[T]:
        """Run ``task`` with a warm worker of its own; tasks start in the order they come in.

        A task whose worker breaks is run once more with a new one, so it must not mind that.
        """
        return self._threads.submit(self._run, task)

    def _run(self, task: Callable[[Worker], T]) -> T:
        worker = self._idle.get()
        try:
            try:
                return task(worker)
            except EngineError:
                worker = self._replace(worker)
                return task(worker)
        finally:
            self._idle.put(worker)

    def _replace(self, broken: Worker) -> Worker:
        with self._lock:
            if self._closed:
                raise EngineError("grading was stopped")
            self._workers.discard(broken)
            worker = self._new_worker()
            self._workers.add(worker)
        broken.close()
        return worker

    def close(self) -> None:
        """Stop at once: what has not started never will, and what runs is ended."""
        with self._lock:
            self._closed = True
            workers = list(self._workers)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        self._threads.shutdown(wait=True)
        for worker in workers:
            worker.close()
