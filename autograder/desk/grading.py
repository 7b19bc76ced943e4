"""Grades what a class handed in: finds it, runs and judges it, hands it to the recorder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from functools import partial
from pathlib import Path

from autograder.course import Course, Master, NotebookError
from autograder.engine import EngineError, Limits, Worker

from . import judging, submissions
from .errors import GradingError, Stopped
from .judging import Reference
from .pool import LocalPool
from .results import Graded, Outcome, Result
from .submissions import Found, Submission

SUBMITTED = "submitted"
Tell = Callable[[int, int, Submission], None]
"""Told after each submission: how many are done, of how many, and which one it was."""


def find_root(folder: Path) -> Path:
    """The course folder at or above ``folder``: one with submissions, or else with masters."""
    for name in (SUBMITTED, "solutions"):
        for place in (folder, *folder.parents):
            if (place / name).is_dir():
                return place
    return folder


def default_jobs() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


class Grading:
    """A run over the submissions of a course folder.

    Args:
        root: the folder with ``submitted/``. Masters come from its ``solutions/``, or from the
            course that this package stands in.
        lessons: names; all that submissions are there for when empty.

    Raises:
        GradingError: no submissions. CourseError: no masters, or no such lesson.
    """

    def __init__(self, root: Path, lessons: Sequence[str] = ()) -> None:
        self.root = root
        self.gradebook = ""  # where it is, known once run() opened it
        self._course = Course.around(root)
        submitted = root / SUBMITTED
        layout = f"{SUBMITTED}/STUDENT/LESSON/NOTEBOOK.ipynb"
        if not submitted.is_dir():
            raise GradingError(
                f"{root}: no folder `{SUBMITTED}` here. Put the notebooks into {layout}, or name "
                "the course with --course (an example class: --course examples/class)"
            )
        known = self._course.lessons()
        there = submissions.lessons_in(submitted)
        self.unknown = [] if lessons else sorted(set(there) - set(known))
        chosen = list(dict.fromkeys(lessons)) or [name for name in known if name in there]
        self.masters = [self._course.master(lesson) for lesson in chosen]
        empty = [lesson for lesson in chosen if lesson not in there]
        if empty or not chosen:
            raise GradingError(
                f"{submitted}: no submissions of {', '.join(empty) or 'any lesson'} here. They "
                f"belong in {layout}; lessons are {', '.join(known)}"
            )
        self.work = [
            (master, submission)
            for master in self.masters
            for submission in submissions.submissions_of(submitted, master.lesson)
        ]

    def run(
        self, tell: Tell, *, jobs: int = 0, limits: Limits | None = None, figures: bool = False
    ) -> list[Graded]:
        """Grade them all.

        Args:
            jobs: notebooks at a time; 0 for one on each processor.
            figures: draw the lessons' pictures into the notebooks in ``autograded/``.

        Raises:
            Stopped: at Ctrl-C. EngineError: a master can't be run. CourseError, GradebookError:
            nbgrader refuses the master, or its gradebook can't be used.
        """
        start = time.monotonic()
        results: dict[str, list[Result]] = {master.lesson: [] for master in self.masters}
        ends = dict.fromkeys(results, start)
        done = 0
        try:
            jobs = min(jobs or default_jobs(), len(self.work))
            with LocalPool(jobs, limits, figures=figures) as pool:
                references, outcomes = self._submit(pool)
                # nbgrader is slow to import and to make a gradebook: the workers warm meanwhile.
                from .recording import Recorder

                with Recorder(self.root, self.masters) as recorder:
                    self.gradebook = recorder.gradebook
                    for reference in references:
                        reference.result()  # a master that can't be run ends it here
                    for future in as_completed(list(outcomes)):
                        outcome = _outcome(future, *outcomes.pop(future))
                        lesson = outcome.master.lesson
                        results[lesson].append(recorder.record(outcome))
                        ends[lesson] = time.monotonic()
                        done += 1
                        tell(done, len(self.work), outcome.submission)
        except KeyboardInterrupt:
            raise Stopped(done, len(self.work)) from None
        return [
            Graded(
                master,
                tuple(sorted(results[master.lesson], key=lambda result: result.student)),
                ends[master.lesson] - start,
            )
            for master in self.masters
        ]

    def _submit(
        self, pool: LocalPool
    ) -> tuple[list[Future[Reference]], dict[Future[Outcome], tuple[Master, Submission]]]:
        """Hand all work to the pool: the reference of each lesson, then its submissions."""
        references = {
            master.lesson: pool.submit(partial(judging.run_reference, master=master))
            for master in self.masters
        }
        masters = self._course.masters()
        outcomes = {
            pool.submit(partial(_grade, submission, master, masters, references[master.lesson])): (
                master,
                submission,
            )
            for master, submission in self.work
        }
        return list(references.values()), outcomes


def _outcome(future: Future[Outcome], master: Master, submission: Submission) -> Outcome:
    try:
        return future.result()
    except EngineError as error:  # twice, with two workers: it is this submission
        return Outcome(submission, master, Found("unreadable"), trouble=str(error))


def _grade(
    submission: Submission,
    master: Master,
    masters: Sequence[Master],
    reference: Future[Reference],
    worker: Worker,
) -> Outcome:
    """One submission, start to end. Whatever is wrong with it stops nobody else."""
    found = Found("unreadable")
    try:
        found = submissions.find(submission, master, masters)
        if found.status != "found":
            return Outcome(submission, master, found)
        # Submitted first, so it never waits for a thread that waits here.
        expected = reference.result()
        judged = judging.judge(worker, master, found.cells, expected)
        return Outcome(submission, master, found, judged, expected)
    except EngineError:
        raise
    except NotebookError as error:
        return Outcome(submission, master, Found("unreadable", str(error), found.notebook))
    except Exception as error:
        trouble = f"the grader stopped with {type(error).__name__}: {error}"
        return Outcome(submission, master, found, trouble=trouble)
