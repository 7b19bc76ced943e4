"""One warm worker for a process that grades now and then, as the server behind formgrader does."""

from __future__ import annotations

import atexit
import re
import threading
from pathlib import Path

from autograder import marking
from autograder.course import Cell, Master
from autograder.engine import EngineError, Files, Worker, WorkerLost
from autograder.marking import Expectation

from . import judging
from .judging import Judged, Reference
from .pool import Place, Setup

IDLE_SECONDS = 300.0
_EXPECT = re.compile(r"\bexpect\b")


class Warm:
    """A worker that starts at its first use and is given up when nobody has used it for a while.

    One thread at a time uses it; others wait. It ends with the process, however that ends.

    Args:
        idle_seconds: how long it is kept.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._place: Place | None = None
        self._setup = Setup()
        self._references: dict[Path, tuple[object, Reference]] = {}
        self._uses = 0
        self._timer: threading.Timer | None = None
        atexit.register(self.close)

    def start(self, setup: Setup) -> None:
        """Begin to warm, where that has not begun; returns at once unless a notebook runs."""
        with self._lock:
            self._get(setup)
            self._give_up_later()

    def judge(
        self, setup: Setup, master: Master, submission: list[Cell], *, files: Files | None = None
    ) -> Judged:
        """Run and judge a submission; the master is run first where it is not known yet.

        Args:
            files: what the notebook reads or imports.

        Raises:
            WorkerLost: two workers broke while they ran it. EngineError: the engine can't run the
            master, or could not start. CourseError, WordsError: the master is no good.
        """
        with self._lock:
            try:
                place = self._get(setup)
                reference = self._reference(place, master)
                return place.run(judging.judge, master, submission, reference, files)
            except WorkerLost:
                raise  # the place has another one already
            except BaseException:
                self._give_up()  # who knows what state it is in
                raise
            finally:
                self._give_up_later()

    def close(self) -> None:
        """Give the worker up, and end what it runs. A later use starts another one."""
        place = self._place
        if place is not None:
            place.stop()  # so that a thread that waits for a notebook lets go of the lock
        with self._lock:
            self._give_up()

    def _get(self, setup: Setup) -> Place:
        if self._place is not None and setup != self._setup:
            self._give_up()
        if self._place is None:
            self._setup = setup
            self._place = Place(setup)
        return self._place

    def _reference(self, place: Place, master: Master) -> Reference:
        files = master.path.parent
        state = (master, [(p, p.lstat().st_mtime_ns) for p in sorted(files.rglob("*"))])
        known = self._references.get(master.path)
        if known is not None and known[0] == state:
            return known[1]
        try:
            reference = place.run(_run_reference, master, files)
        except WorkerLost as error:
            raise EngineError(f"{master.lesson}: the master can't be run: {error}") from error
        self._references[master.path] = (state, reference)
        return reference

    def _give_up_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._uses += 1
        self._timer = threading.Timer(self._idle_seconds, self._give_up_unused, [self._uses])
        self._timer.daemon = True
        self._timer.start()

    def _give_up_unused(self, uses: int) -> None:
        with self._lock:
            if self._uses == uses:  # it may have been too late to cancel
                self._give_up()

    def _give_up(self) -> None:
        self._references.clear()  # another worker gets other inputs
        if self._place is not None:
            self._place.close()
            self._place = None


def _run_reference(worker: Worker, master: Master, files: Path) -> Reference:
    if any(_EXPECT.search(exercise.check.source) for exercise in master.exercises):
        return judging.run_reference(worker, master, files=files)
    # Asserts expect nothing of the master, which other courses keep unsolved at times.
    nothing: dict[str, tuple[Expectation, ...]] = {e.id: () for e in master.exercises}
    words = marking.for_lesson(master.sentences)
    return Reference(master, judging.new_secret(), nothing, words)
