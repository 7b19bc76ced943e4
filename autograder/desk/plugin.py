"""nbgrader's own commands and pages, with this engine: two steps for ``nbgrader_config.py``.

``Rebuild`` stands in ``c.Autograde.sanitize_preprocessors``, ``Run`` in
``c.Autograde.autograde_preprocessors`` before nbgrader's ``SaveAutoGrades``, which reads the marks
from what ``Run`` writes into the check cells. Where a notebook can't be graded by the grader's own
fault they raise, which nbgrader logs: that student's marks stay, and the others' go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

from autograder import course
from autograder.course import Cell, NotebookError
from autograder.engine import EngineError, FilesError, WorkerLost, read_files
from autograder.marking import one_line

from . import pool, settings
from .assignment import Assignment
from .executed import Json
from .judging import make_plan
from .pool import EXAMPLES, Setup
from .results import Outcome
from .source import Settings
from .submissions import Found, Submission
from .warm import Warm

_WARM = Warm()
_SEEN = "autograder"  # in the notebook's metadata: what Rebuild saw, for Run


class Engine(NbGraderPreprocessor):
    """What both steps share. Limits are those of :mod:`autograder.desk.settings`."""

    figures = Bool(False, help="Whether the lessons' pictures are drawn.").tag(config=True)
    unconfined = Bool(
        False,
        help="Whether notebooks run even where nothing confines them, and where they can read and "
        "delete what you can (see `autograder doctor`).",
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Take a notebook and its names from nbgrader, and give it the next one.

        Raises:
            CourseError: the master is missing, or not what the gradebook knows. EngineError:
            the engine can't run it. WordsError: its sentences are no good.
        """
        known = resources["nbgrader"]
        self._who = f"{known['student']}, {known['assignment']}/{known['notebook']}"
        coursedir = self._coursedir()
        root = self._root = Path(coursedir.root)
        nbgraders = Settings(root, self.config, known["db_url"], coursedir.course_id)
        folder = root / resources["metadata"]["path"]
        submission = Submission(known["student"], known["assignment"], folder)
        try:
            if exposed := pool.exposed(root):
                raise EngineError(exposed)
            assignment = Assignment.find(coursedir, nbgraders, known)
            made = self._made(assignment, submission, nb)
        except Exception as error:
            self.log.error("%s: not graded: %s", self._who, error)
            raise
        return nbformat.from_dict(made), resources

    def _made(self, assignment: Assignment, submission: Submission, nb: Any) -> Json:
        raise NotImplementedError

    def _setup(self) -> Setup:
        return Setup(
            settings.limits_of(self.config), self.figures, self.unconfined or self._root == EXAMPLES
        )

    def _tell(self, notes: Iterable[str]) -> None:
        for note in notes:
            self.log.warning("%s: %s", self._who, note)

    def _coursedir(self) -> Any:
        """The course that the converter works on, which need not be the one in the settings."""
        owner = self.parent
        while owner is not None and not hasattr(owner, "coursedir"):
            owner = owner.parent
        return owner.coursedir if owner is not None else CourseDirectory(config=self.config)


class Rebuild(Engine):
    """Makes the notebook anew from the master, with the learner's answers and own cells."""

    def _made(self, assignment: Assignment, submission: Submission, nb: Any) -> Json:
        _WARM.start(self._setup())  # it warms meanwhile
        try:
            found = assignment.look(_cells(nb))
        except NotebookError as error:
            found = Found("unreadable", f"{assignment.master.name}.ipynb: {error}")
        plan = make_plan(assignment.master, found.cells)
        notes = tuple(map(one_line, [found.reason] if found.reason else plan.repairs))
        self._tell(notes)
        executed = assignment.executed
        answers = executed.answers(plan, found.cells)
        made = executed.notebook(
            plan, (), None, answers=answers, notes=notes, submission=found.cells
        )
        made["metadata"][_SEEN] = {"reason": found.reason, "notes": list(notes)}
        return made


class Run(Engine):
    """Runs a notebook and judges it: the outputs of its check cells say the verdicts."""

    def _made(self, assignment: Assignment, submission: Submission, nb: Any) -> Json:
        seen = nb.metadata.get(_SEEN, {"reason": "", "notes": []})
        cells = _cells(nb)[1:] if seen["notes"] else _cells(nb)  # the notes are on top
        name = Path(f"{assignment.master.name}.ipynb")
        outcome = Outcome(submission, assignment.master, Found("found", "", name, tuple(cells)))
        if seen["reason"]:
            outcome = replace(outcome, found=Found("other lesson", seen["reason"]))
        else:
            setup = self._setup()
            try:
                files = read_files(submission.folder, setup.limits)
                judged = _WARM.judge(setup, assignment.master, cells, files=files)
                outcome = replace(outcome, judged=judged)
            except (WorkerLost, FilesError) as error:  # as often as it was run: it is this one
                outcome = replace(outcome, crashed=str(error))
        notes = tuple(dict.fromkeys([*seen["notes"], *outcome.notes]))
        self._tell(note for note in notes if note not in seen["notes"])
        plan = outcome.judged.plan if outcome.judged else make_plan(assignment.master, cells)
        observations = outcome.judged.observations if outcome.judged else None
        executed = assignment.executed
        answers = executed.answers(plan, cells)
        return executed.notebook(
            plan, outcome.verdicts, observations, answers=answers, notes=notes, submission=cells
        )


def _cells(nb: Any) -> list[Cell]:
    return course.parse_cells(json.dumps(nb).encode())
