"""Grades what a class handed in: finds it, runs and judges it, hands it to the recorder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from autograder.course import Course, folders_around

from . import guard, submissions
from .errors import GradingError, Stopped
from .feed import Feed, Look, Runner
from .kept import Shelf
from .pool import Pool, Setup
from .results import Graded, Result

SUBMITTED = "submitted"
STATE = ".autograder"
"""The folder of what only this program needs: results of earlier runs, the lock."""


class Teller(Protocol):
    """Who is told how far grading is."""

    def done(self, done: int, total: int, result: Result, lesson: str) -> None:
        """One more submission is done."""

    def waits(self, why: str) -> None:
        """The gradebook can't be reached; grading goes on once it can."""


def find_root(folder: Path) -> Path:
    """The course folder at or above ``folder``: one with submissions, or else with masters."""
    for name in (SUBMITTED, "solutions"):
        for place in folders_around(folder):
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
        self.misplaced = submissions.misplaced(submitted, known)
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
        self,
        tell: Teller,
        setup: Setup,
        make_pool: Callable[[Setup, int], Pool],
        *,
        fresh: bool = False,
    ) -> list[Graded]:
        """Grade them all.

        Args:
            make_pool: makes the pool in which notebooks run, where any must, given their number at
                most.
            fresh: run also what did not change since an earlier run.

        Raises:
            Stopped: at Ctrl-C. EngineError: a master can't be run. CourseError, GradebookError:
            nbgrader refuses the master, or its gradebook can't be used. GradingError: another
            process grades this course, or there is no such cluster.
        """
        start = time.monotonic()
        results: dict[str, list[Result]] = {master.lesson: [] for master in self.masters}
        ends = dict.fromkeys(results, start)
        done = 0
        state = self.root / STATE
        try:
            with guard.alone(state):
                shelf = Shelf(state / "results", setup, self.root / "nbgrader_config.py")
                look = Look(self.root, self._course.masters(), shelf, fresh=fresh)
                runner = Runner(lambda: make_pool(setup, len(self.work)), setup.limits)
                with Feed(self.work, look, runner) as feed:
                    # nbgrader is slow to import and to make a gradebook: work goes on meanwhile.
                    from .recording import Recorder

                    with Recorder(self.root, self.masters, shelf, tell.waits) as recorder:
                        self.gradebook = recorder.gradebook
                        for outcome in feed:
                            lesson = outcome.master.lesson
                            result = recorder.record(outcome)
                            results[lesson].append(result)
                            ends[lesson] = time.monotonic()
                            done += 1
                            tell.done(done, len(self.work), result, lesson)
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
