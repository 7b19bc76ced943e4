"""Reads submissions ahead of the workers, and hands back what became of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from pathlib import Path

from autograder import marking
from autograder.course import Cell, Master, NotebookError
from autograder.engine import EngineError, Limits, WorkerLost, read_files

from . import judging, submissions
from .errors import GradingError
from .judging import Judged, Reference
from .kept import Shelf
from .pool import Pool
from .results import Outcome
from .submissions import Found, Submission

AUTOGRADED = "autograded"
_READER_SECONDS = 5.0
_AHEAD = 64  # read or run, and not yet recorded: enough for the time that a gradebook is made


class Look:
    """Finds what was handed in, and what an earlier run found in it.

    Args:
        masters: all lessons of the course.
        fresh: don't use results of earlier runs.
    """

    def __init__(self, root: Path, masters: Sequence[Master], shelf: Shelf, *, fresh: bool) -> None:
        self._graded = root / AUTOGRADED
        self._masters = masters
        self._shelf = shelf
        self._fresh = fresh

    def __call__(self, master: Master, submission: Submission) -> Outcome:
        """The outcome as far as it is known without running anything."""
        outcome = Outcome(submission, master, Found("unreadable"))
        try:
            found = submissions.find(submission, master, self._masters)
            stamp = submissions.read_stamp(submission.folder)
            outcome = replace(outcome, found=found, stamp=stamp)
            if found.status != "found" or found.notebook is None:
                return outcome
            key = self._shelf.key(master, found.cells, found.notebook.name, stamp.text)
            student, lesson = submission.student, submission.lesson
            written = self._graded / student / lesson / f"{master.name}.ipynb"
            kept = None if self._fresh else self._shelf.find(student, lesson, key, written)
            return replace(outcome, key=key, kept=kept)
        except Exception as error:  # whatever is wrong with it stops nobody else
            return replace(outcome, trouble=_stopped(error))


class Runner:
    """Runs notebooks in a pool that is made when the first one is to run.

    Args:
        make_pool: makes the pool, which is closed with the runner.
        limits: the files that a lesson ships stay within those of a notebook.
    """

    def __init__(self, make_pool: Callable[[], Pool], limits: Limits) -> None:
        self._limits = limits
        self._make_pool = make_pool
        self._pool: Pool | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._references: dict[str, Future[Reference]] = {}

    def __call__(self, master: Master, cells: Sequence[Cell]) -> Future[Judged]:
        """Run a submission of ``master``, after the master itself where it is the first one.

        Raises:
            GradingError: no pool can be made, so that nothing runs here.
        """
        if self._pool is None:
            try:
                made = self._make_pool()
            except EngineError as error:  # the machine's trouble, and the same for everybody
                raise GradingError(f"no notebook can run here: {error}") from error
            self._set(made)
        assert self._pool is not None
        if master.lesson not in self._references:
            # Where it runs, the course's files may not be.
            words = marking.for_lesson(master.sentences)
            secret = judging.new_secret()
            files = read_files(master.path.parent, self._limits)
            reference = self._pool.submit(judging.run_reference, master, secret, files, words)
            self._references[master.lesson] = reference
        return self._pool.submit(judging.judge_by, self._references[master.lesson], cells)

    def check(self) -> None:
        """See that the masters which have run by now ran to their end.

        Raises:
            EngineError: one did not; no submission of it can be judged.
        """
        for reference in list(self._references.values()):
            if reference.done() and not reference.cancelled() and reference.exception():
                reference.result()

    def _set(self, pool: Pool) -> None:
        with self._lock:
            if not self._closed:
                self._pool = pool
                return
        pool.close()
        raise EngineError("grading was stopped")

    def close(self) -> None:
        """End what runs, also from another thread than the one that makes the pool."""
        with self._lock:
            self._closed = True
        if self._pool is not None:
            self._pool.close()


class Feed:
    """Outcomes of ``work``, in the order in which they end. Use as a context manager.

    A thread looks at submissions and runs those that must; it stays ahead by a limited number, so
    that memory does not grow with the class.
    """

    def __init__(
        self, work: Sequence[tuple[Master, Submission]], look: Look, runner: Runner
    ) -> None:
        self._work = work
        self._look = look
        self._runner = runner
        self._room = threading.Semaphore(_AHEAD)
        self._ended: queue.SimpleQueue[tuple[Outcome, Future[Judged] | None] | GradingError]
        self._ended = queue.SimpleQueue()
        self._stopped = False
        self._reader = threading.Thread(target=self._read, name="reader", daemon=True)

    def __enter__(self) -> Feed:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._room.release()
        # It may be waiting for a cluster that does not answer; what it gets then is closed there.
        self._reader.join(_READER_SECONDS)
        self._runner.close()

    def _read(self) -> None:
        for master, submission in self._work:
            self._room.acquire()
            if self._stopped:
                return
            outcome = self._look(master, submission)
            if outcome.status == "graded" and outcome.kept is None:
                self._run(outcome)
            else:
                self._ended.put((outcome, None))

    def _run(self, outcome: Outcome) -> None:
        try:
            future = self._runner(outcome.master, outcome.found.cells)
        except GradingError as error:  # there is no such pool
            self._ended.put(error)
        except Exception as error:  # a cluster that went away
            self._ended.put((replace(outcome, trouble=_stopped(error)), None))
        else:
            future.add_done_callback(lambda done: self._ended.put((outcome, done)))

    def __iter__(self) -> Iterator[Outcome]:
        for _ in self._work:
            ended = self._ended.get()
            if isinstance(ended, GradingError):
                raise ended
            outcome, future = ended
            if future is not None:
                self._runner.check()
                outcome = _judged(outcome, future)
            yield outcome
            self._room.release()


def _judged(outcome: Outcome, future: Future[Judged]) -> Outcome:
    try:
        return replace(outcome, judged=future.result())
    except NotebookError as error:
        return replace(outcome, found=Found("unreadable", str(error), outcome.found.notebook))
    except WorkerLost as error:  # each worker that it was given: it is this submission
        return replace(outcome, crashed=str(error))
    except (Exception, CancelledError) as error:
        return replace(outcome, trouble=_stopped(error))


def _stopped(error: BaseException) -> str:
    if isinstance(error, EngineError):
        return str(error)
    return f"the grader stopped with {type(error).__name__}: {error}"
