"""Keeps outcomes where nbgrader looks for them: the gradebook and ``autograded/``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder import marking
from autograder.course import Master

from . import executed
from .errors import GradebookError
from .executed import Executed
from .feed import AUTOGRADED
from .files import write_text
from .gradebook import Entry, Gradebook
from .judging import make_plan
from .kept import Kept, Shelf, digest
from .results import Outcome, Result, Standing
from .source import Settings, Source, read_source


class Recorder:
    """The only one who writes while a class is graded. Use as a context manager.

    Args:
        shelf: where results are kept for the next run.
        waits: told, once for each time, that and why the gradebook is waited for.

    Raises:
        CourseError: nbgrader refuses a master or its settings.
        GradebookError: the gradebook can't be opened, or its cells are not the master's.
    """

    def __init__(
        self,
        root: Path,
        masters: Sequence[Master],
        shelf: Shelf,
        waits: Callable[[str], None],
    ) -> None:
        self._root = root
        self._shelf = shelf
        settings = Settings.of(root)
        self._sources: dict[str, Source] = {}
        self._executed: dict[str, Executed] = {}
        self._book = Gradebook(settings, waits)
        try:
            for master in masters:
                source = read_source(master, settings)
                self._book.record(source)
                self._sources[master.lesson] = source
                words = marking.for_lesson(master.sentences)
                self._executed[master.lesson] = Executed(source, words)
        except BaseException:
            self._book.close()
            raise

    @property
    def gradebook(self) -> str:
        """Where the gradebook is, for people."""
        return self._book.place

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self._book.close()

    def record(self, outcome: Outcome) -> Result:
        """Write one outcome: the notebook, then the marks, then that both are there.

        So a run that is killed in between does it again. What was never handed in (no folder at
        all), or failed by the grader's own fault, leaves everything as it was.
        """
        student, lesson = outcome.submission.student, outcome.submission.lesson
        source = self._sources[lesson]
        try:
            if outcome.trouble or not outcome.submission.folder.is_dir():
                return _result(outcome, self._book.standing(source, student))
            kept = outcome.kept or self._write_files(outcome)
            points = {verdict.exercise: verdict.points for verdict in kept.verdicts}
            again = outcome.kept is not None
            entry = Entry(student, points, kept.unanswered, outcome.stamp.time, again)
            standing = self._book.write(source, entry)
            # What took too long may have met a busy machine: the next run tries again.
            if outcome.judged and all(v.verdict != "timed out" for v in kept.verdicts):
                with contextlib.suppress(OSError):  # the marks are there all the same
                    self._shelf.keep(student, lesson, kept)
        except (GradebookError, OSError) as error:
            return _result(replace(outcome, trouble=str(error)), None)
        return replace(_result(outcome, standing), notes=kept.notes)

    def _write_files(self, outcome: Outcome) -> Kept:
        """Write the executed notebook; all of the result but the gradebook's part."""
        submission = outcome.submission
        made = self._executed[submission.lesson]
        judged = outcome.judged
        plan = judged.plan if judged else make_plan(outcome.master, ())
        answers = made.answers(plan, outcome.found.cells)
        observations = judged.observations if judged else None
        verdicts, notes = outcome.verdicts, outcome.notes
        page = partial(made.notebook, plan, verdicts, answers=answers)
        try:
            text = executed.as_text(
                page(observations=observations, notes=notes, submission=outcome.found.cells)
            )
        except Exception as error:  # by what the learner shows: that costs the sight of it only
            notes = (*notes, f"what it shows can't be shown: {marking.one_line(str(error))}")
            text = executed.as_text(page(observations=None, notes=notes))
        folder = self._root / AUTOGRADED / submission.student / submission.lesson
        write_text(folder / f"{outcome.master.name}.ipynb", text)
        # nbgrader compares the two to see whether there is a newer submission.
        if outcome.stamp.time:
            write_text(folder / "timestamp.txt", outcome.stamp.text)
        else:
            (folder / "timestamp.txt").unlink(missing_ok=True)
        notebook = digest(text.encode())
        return Kept(outcome.key, verdicts, notes, made.unanswered(answers), notebook, outcome.tier)


def _result(outcome: Outcome, standing: Standing | None) -> Result:
    return Result(
        outcome.submission.student,
        outcome.status,
        outcome.verdicts,
        outcome.notes,
        standing,
        kept=outcome.kept is not None,
        tier=outcome.tier,
    )
