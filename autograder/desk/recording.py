"""Keeps outcomes where nbgrader looks for them: the gradebook and ``autograded/``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder import marking
from autograder.course import Master

from . import executed, submissions
from .errors import GradebookError
from .executed import Executed
from .files import write_text
from .gradebook import Entry, Gradebook
from .judging import make_plan
from .results import Outcome, Result, Standing
from .source import Settings, Source, read_source

AUTOGRADED = "autograded"


class Recorder:
    """The only one who writes while a class is graded. Use as a context manager.

    Raises:
        CourseError: nbgrader refuses a master or its settings.
        GradebookError: the gradebook can't be opened, or its cells are not the master's.
    """

    def __init__(self, root: Path, masters: Sequence[Master]) -> None:
        self._root = root
        settings = Settings.of(root)
        self._sources: dict[str, Source] = {}
        self._executed: dict[str, Executed] = {}
        self._book = Gradebook(settings)
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
        """Write one outcome: first the notebook, then the marks that refer to it.

        What was never handed in (no folder at all), or failed by the grader's own fault, leaves
        everything as it was.
        """
        if outcome.trouble or not outcome.submission.folder.is_dir():
            return _result(outcome, None)
        lesson = outcome.submission.lesson
        stamp = submissions.read_stamp(outcome.submission.folder)
        notes = (*outcome.notes, *filter(None, [stamp.trouble]))
        made = self._executed[lesson]
        judged = outcome.judged
        plan = judged.plan if judged else make_plan(outcome.master, ())
        answers = made.answers(plan, outcome.found.cells)
        observations = judged.observations if judged else None
        notebook = made.notebook(plan, outcome.verdicts, observations, answers=answers, notes=notes)
        points = {verdict.exercise: verdict.points for verdict in outcome.verdicts}
        entry = Entry(outcome.submission.student, points, made.unanswered(answers), stamp.time)
        try:
            self._write_files(outcome, notebook, stamp.text)
            standing = self._book.write(self._sources[lesson], entry)
        except (GradebookError, OSError) as error:
            return _result(replace(outcome, trouble=str(error)), None)
        return _result(outcome, standing, notes)

    def _write_files(self, outcome: Outcome, notebook: executed.Json, stamp: str) -> None:
        submission = outcome.submission
        folder = self._root / AUTOGRADED / submission.student / submission.lesson
        executed.write(folder / f"{outcome.master.name}.ipynb", notebook)
        # nbgrader compares the two to see whether there is a newer submission.
        if stamp:
            write_text(folder / "timestamp.txt", stamp)
        else:
            (folder / "timestamp.txt").unlink(missing_ok=True)


def _result(
    outcome: Outcome, standing: Standing | None, notes: tuple[str, ...] | None = None
) -> Result:
    return Result(
        outcome.submission.student,
        outcome.status,
        outcome.verdicts,
        outcome.notes if notes is None else notes,
        standing,
    )
