"""Writes marks into nbgrader's gradebook, on nbgrader's own models.

One session, and one transaction for each submission: a mark is there whole or not at all.
"""

from __future__ import annotations

import copy
import datetime
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from nbgrader import api
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from . import database
from .errors import GradebookError, GradebookGone
from .results import Standing
from .source import CONFIG, Settings, Source


@dataclass(frozen=True)
class Entry:
    """What goes into the gradebook for one submission.

    ``points`` has the marks of the exercises by the id of their check cell. Cells that are not in
    it are for people to mark, unless they are in ``unanswered``: there the learner wrote nothing.
    With ``kept`` nothing was run anew: who marked by hand need not look again.
    """

    student: str
    points: Mapping[str, float]
    unanswered: frozenset[str] = frozenset()
    timestamp: datetime.datetime | None = None
    kept: bool = False


class Gradebook:
    """The one writer of a course's gradebook. Use as a context manager.

    A database that is locked, or away for a moment, is waited for.

    Args:
        waits: told, once for each time, that and why the database is waited for.

    Raises:
        GradebookError: the database can't be opened or made.
    """

    def __init__(self, settings: Settings, waits: Callable[[str], None]) -> None:
        self._settings = settings
        self._patience = database.Patience(waits)
        try:
            self._penalty = settings.late_penalty()
        except Exception as error:  # it is anybody's program
            raise GradebookError(
                f"{settings.root / CONFIG}: the plug-in for late submissions can't be used: {error}"
            ) from error
        try:
            self._book = self._patience.wait(self._open, database.PATIENCE_AT_FIRST)
        except (SQLAlchemyError, OSError, ImportError) as error:
            raise GradebookError(
                f"the gradebook {database.address(settings.db_url)} can't be opened: "
                f"{database.cause(error)}. It is set in {settings.root / CONFIG} "
                "(c.CourseDirectory.db_url), and is gradebook.db in the course's folder otherwise"
            ) from error
        self._db = self._book.db

    def _open(self) -> Any:
        database.make(self._settings.db_url)
        return api.Gradebook(self._settings.db_url, self._settings.course_id)

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._db.rollback()
        self._book.close()

    @property
    def place(self) -> str:
        """Where it is, for people: a file's path, or the database's address without password."""
        url = self._book.engine.url
        file = url.database if url.drivername.startswith("sqlite") else None
        return file or url.render_as_string(hide_password=True)

    def record(self, source: Source) -> None:
        """Record a lesson's cells, as ``nbgrader generate_assignment`` does.

        Raises:
            GradebookError: the cells differ from those that submissions were marked by.
        """
        try:
            self._patience.wait(lambda: self._record(source))
        except RuntimeError as error:
            raise GradebookError(
                f"{source.master.lesson}: cells were added to the master or taken away since it "
                "was first graded, and marks hang on them. Keep the old cells, or grade in a copy "
                f"of the course with a new gradebook. nbgrader says: {error}"
            ) from error
        except SQLAlchemyError as error:
            raise GradebookError(
                f"{source.master.lesson}: not recorded ({database.cause(error)})"
            ) from error

    def _record(self, source: Source) -> None:
        master = source.master
        try:
            self._book.update_or_create_assignment(master.lesson)
            self._must_be_called(source)
            known = self._recorded(source)
            self._db.commit()
        except BaseException:  # Ctrl-C too, which breaks off what the database does
            self._db.rollback()
            raise
        if known:
            return
        resources = {
            "nbgrader": {
                "notebook": master.name,
                "assignment": master.lesson,
                "student": ".",
                "db_url": self._settings.db_url,
            }
        }
        # Its steps change the notebook they are given, and it may be given it again.
        notebook = copy.deepcopy(source.notebook)
        SaveCells(config=self._settings.config).preprocess(notebook, resources)
        self._db.expire_all()

    def _must_be_called(self, source: Source) -> None:
        """Marks hang on the notebook's name: another one would begin a second notebook."""
        master = source.master
        for notebook in self._book.find_assignment(master.lesson).notebooks:
            if notebook.name == master.name:
                continue
            if notebook.submissions:
                raise GradebookError(
                    f"{master.path}: marks are there for {notebook.name}.ipynb. Give the master "
                    "that name again, or grade in a copy of the course with a new gradebook"
                )
            self._book.remove_notebook(notebook.name, master.lesson)

    def standing(self, source: Source, student: str) -> Standing | None:
        """What the gradebook has of a student, where nothing is to be written; None: nothing.

        Raises:
            GradebookError: the database refuses. GradebookGone: it is not there any more.
        """
        try:
            return self._patience.wait(lambda: self._standing(source, student))
        except SQLAlchemyError as error:
            self._must_be_there(error)
            raise GradebookError(f"{student}: not read ({database.cause(error)})") from error

    def _standing(self, source: Source, student: str) -> Standing | None:
        try:
            submission = self._book.find_submission(source.master.lesson, student)
            (mine,) = [n for n in submission.notebooks if n.notebook.name == source.master.name]
            marks = {grade.cell.name: grade.score for grade in mine.grades}
            penalty = mine.late_submission_penalty or 0.0
            return Standing(marks, sum(marks.values()) - penalty, by_hand=True)
        except (api.MissingEntry, ValueError):
            return None
        finally:
            self._db.rollback()

    def _recorded(self, source: Source) -> bool:
        """Whether the gradebook knows these very cells already (recording is slow)."""
        try:
            book = self._book.find_notebook(source.master.name, source.master.lesson)
        except api.MissingEntry:
            return False
        wanted = {
            cell.metadata.nbgrader.grade_id: _facts(cell)
            for cell in source.notebook.cells
            if is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell)
        }
        points = {cell.name: cell.max_score for cell in [*book.grade_cells, *book.task_cells]}
        known = {
            cell.name: (
                cell.source,
                cell.cell_type,
                cell.locked,
                cell.checksum,
                points.get(cell.name),
            )
            for cell in book.source_cells
        }
        kernel = json.dumps(source.notebook.metadata.get("kernelspec", {}))
        return known == wanted and book.kernelspec == kernel

    def write(self, source: Source, entry: Entry) -> Standing:
        """Set a submission's marks; what people gave by hand stays.

        Raises:
            GradebookError: the database refuses; nothing of this submission is written then.
            GradebookGone: it is not there any more.
        """
        try:
            return self._patience.wait(lambda: self._transaction(source, entry))
        except (SQLAlchemyError, UnicodeError) as error:
            self._must_be_there(error)
            raise GradebookError(
                f"{entry.student}: not written ({database.cause(error)})"
            ) from error

    def _must_be_there(self, error: Exception) -> None:
        """Stop where patience did not help: each other submission would wait as long."""
        if database.passes(error):
            raise GradebookGone(
                f"the gradebook {self.place} can't be reached any more ({database.cause(error)}). "
                "The marks written until then are saved. Once it is there, run the same command "
                "again"
            ) from error

    def _transaction(self, source: Source, entry: Entry) -> Standing:
        try:
            # nbgrader's models warn of a harmless cascade.
            with warnings.catch_warnings(), self._db.no_autoflush:
                warnings.simplefilter("ignore", SAWarning)
                standing = self._write(source, entry)
                self._db.commit()
        finally:
            self._db.rollback()
        return standing

    def _write(self, source: Source, entry: Entry) -> Standing:
        submission = self._find(source.master.lesson, entry.student)
        if submission is None:
            return self._write_first(source, entry)
        if entry.timestamp is not None:
            submission.timestamp = entry.timestamp
        marks: dict[str, float] = {}
        by_hand = False
        penalty = 0.0
        for notebook in submission.notebooks:
            mine = notebook.notebook.name == source.master.name
            for grade in notebook.grades if mine else ():
                _set(grade, entry)
                name = grade.cell.name
                given = grade.manual_score is not None or bool(grade.extra_credit)
                by_hand = by_hand or given
                base = grade.auto_score if grade.manual_score is None else grade.manual_score
                marks[name] = (base or 0.0) + (grade.extra_credit or 0.0)
            for comment in notebook.comments if mine else ():
                comment.auto_comment = _comment(comment.cell.name, entry)
            if mine:
                penalty = self._late(submission, notebook, sum(marks.values()))
        return Standing(marks, sum(marks.values()) - penalty, by_hand or bool(penalty))

    def _find(self, lesson: str, student: str) -> Any:
        """The student's entry for a lesson; None where there is none."""
        query = self._db.query(api.SubmittedAssignment).join(api.Assignment)
        return query.filter(
            api.Assignment.name == lesson, api.SubmittedAssignment.student_id == student
        ).one_or_none()

    def _write_first(self, source: Source, entry: Entry) -> Standing:
        """Make the entry as nbgrader's add_submission does, with its marks in it.

        By rows, not object by object, which takes several times as long.
        """
        assignment = self._book.find_assignment(source.master.lesson)
        (notebook,) = assignment.notebooks  # record() has seen to that
        if self._db.get(api.Student, entry.student) is None:
            self._insert(api.Student, [{"id": entry.student}])
        whole = {
            "id": api.new_uuid(),
            "assignment_id": assignment.id,
            "student_id": entry.student,
            "timestamp": entry.timestamp,
        }
        mine = {
            "id": api.new_uuid(),
            "assignment_id": whole["id"],
            "notebook_id": notebook.id,
        }
        graded = [*notebook.grade_cells, *notebook.task_cells]
        scores = {cell.name: _score(cell.name, entry) for cell in graded}
        self._insert(api.SubmittedAssignment, [whole])
        self._insert(api.SubmittedNotebook, [mine])
        self._insert(
            api.Grade,
            [
                {
                    "cell_id": cell.id,
                    "notebook_id": mine["id"],
                    "auto_score": scores[cell.name],
                    "needs_manual_grade": scores[cell.name] is None,
                }
                for cell in graded
            ],
        )
        self._insert(
            api.Comment,
            [
                {
                    "cell_id": cell.id,
                    "notebook_id": mine["id"],
                    "auto_comment": _comment(cell.name, entry),
                }
                for cell in [*notebook.solution_cells, *notebook.task_cells]
            ],
        )
        marks = {name: score or 0.0 for name, score in scores.items()}
        penalty = 0.0
        if assignment.duedate is not None:
            submission = self._find(source.master.lesson, entry.student)
            penalty = self._late(submission, submission.notebooks[0], sum(marks.values()))
        return Standing(marks, sum(marks.values()) - penalty, by_hand=bool(penalty))

    def _insert(self, kind: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._db.execute(sqlalchemy.insert(kind), rows)

    def _late(self, submission: Any, notebook: Any, score: float) -> float:
        """nbgrader's penalty for being late, within what nbgrader allows."""
        notebook.late_submission_penalty = None
        seconds = submission.total_seconds_late
        if seconds <= 0:
            return 0.0
        plugin = self._penalty.plugin_inst
        try:
            penalty = plugin.late_submission_penalty(submission.student.id, score, seconds)
        except Exception as error:  # it is anybody's program
            raise GradebookError(
                f"{submission.student.id}: not written; the plug-in for late submissions stopped "
                f"with {type(error).__name__}: {error}"
            ) from error
        if penalty is None:
            return 0.0
        notebook.late_submission_penalty = min(max(penalty, 0.0), score)
        return float(notebook.late_submission_penalty)


def _facts(cell: Any) -> tuple[object, ...]:
    marked = is_grade(cell) or is_task(cell)
    return (
        cell.source,
        cell.cell_type,
        is_locked(cell),
        cell.metadata.nbgrader.get("checksum"),
        float(cell.metadata.nbgrader["points"]) if marked else None,
    )


def _set(grade: Any, entry: Entry) -> None:
    """nbgrader's rule: a mark that a person gave counts, and is to be looked at again."""
    before = grade.auto_score
    grade.auto_score = _score(grade.cell.name, entry)
    if entry.kept and grade.auto_score == before:
        return
    grade.needs_manual_grade = grade.auto_score is None or grade.manual_score is not None


def _score(cell: str, entry: Entry) -> float | None:
    """The mark of a cell; None where it is for people to mark."""
    return 0.0 if cell in entry.unanswered else entry.points.get(cell)


def _comment(cell: str, entry: Entry) -> str | None:
    return "No response." if cell in entry.unanswered else None
