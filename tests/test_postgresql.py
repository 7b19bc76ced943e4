"""Grading into PostgreSQL, through nbgrader's ``db_url``, on a real server."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import nbformat
import pytest
from classroom import EXPECTED, LESSON, NAME, make_course, marks, run, wanted
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from postgres import PASSWORD, database, server
from pytest_postgresql.executors import PostgreSQLExecutor
from runs import Grader, hold, submissions
from test_grade_stock import stock

from autograder.desk.source import Settings
from autograder.engine import Limits

pytestmark = pytest.mark.needs("postgresql")


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQLExecutor]:
    with server() as started:
        yield started


@pytest.fixture
def url(postgresql: PostgreSQLExecutor) -> Iterator[str]:
    with database(postgresql, "gradebook") as made:
        yield made


def course_on(url: str, folder: Path, students: list[str], *settings: str) -> Path:
    """A course whose nbgrader_config.py names the database, as README says."""
    course = make_course(folder / "course", students)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\n".join(["", f"c.CourseDirectory.db_url = {url!r}", *settings, ""]))
    return course


def auto_scores(book: Gradebook) -> dict[str, dict[str, float | None]]:
    return {
        submission.student.id: {g.name: g.auto_score for g in submission.notebooks[0].grades}
        for submission in book.db.query(SubmittedAssignment)
    }


@pytest.mark.long  # the whole class; the second run has some of it
def test_the_class_gets_the_marks_that_it_gets_on_sqlite(
    url: str, graded: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    course = course_on(url, tmp_path, list(EXPECTED))
    assert run(course, "--json", "out.json", limits=Limits(cell_seconds=8)) == 0
    with Gradebook(url, "pytorch_hooks") as book:
        assert auto_scores(book) == marks(graded)
    assert not list(course.rglob("*.db")), "no gradebook in a file beside it"
    assert (course / "grades.csv").read_text() == (graded / "grades.csv").read_text()

    said = "".join(capfd.readouterr())
    assert "127.0.0.1" in said, "it tells where the marks are"
    for file in course.rglob("*.*"):
        if file.is_file() and file.name != "nbgrader_config.py":
            said += file.read_text("utf-8")
    assert PASSWORD not in said

    # nbgrader's own commands and pages read it.
    stock(course, "export", "--to", "exported.csv")
    rows = csv.DictReader((course / "exported.csv").open(newline=""))
    exported = {row["student_id"]: float(row["score"]) for row in rows}
    assert exported == {student: sum(wanted(student).values()) for student in EXPECTED}
    settings = Settings.of(course)
    api = NbGraderAPI(CourseDirectory(config=settings.config), config=settings.config)
    assert api.get_submission(LESSON, "dara")["score"] == 4.0
    stock(course, "db", "upgrade")
    with Gradebook(url, "pytorch_hooks") as book:
        assert auto_scores(book) == marks(graded)


def test_a_second_run_keeps_what_people_gave(url: str, tmp_path: Path) -> None:
    course = course_on(url, tmp_path, ["chen", "dara"])
    assert run(course) == 0
    with Gradebook(url, "pytorch_hooks") as book:
        grade = book.find_grade("hook", NAME, LESSON, "dara")
        grade.manual_score, grade.extra_credit = 2.0, 0.5
        book.find_comment("hook_answer", NAME, LESSON, "dara").manual_comment = "nearly – weiter so"
        book.db.commit()
    assert run(course, "--fresh") == 0
    with Gradebook(url, "pytorch_hooks") as book:
        assert auto_scores(book) == {name: wanted(name) for name in ("chen", "dara")}
        grade = book.find_grade("hook", NAME, LESSON, "dara")
        assert (grade.auto_score, grade.manual_score, grade.score) == (0.0, 2.0, 2.5)
        comment = book.find_comment("hook_answer", NAME, LESSON, "dara")
        assert comment.comment == "nearly – weiter so"
        assert book.find_submission(LESSON, "dara").score == 6.5


@pytest.mark.long
def test_late_penalties_and_extensions_follow_nbgrader(url: str, tmp_path: Path) -> None:
    zero = 'c.LateSubmissionPlugin.penalty_method = "zero"'
    course = course_on(url, tmp_path, ["ada", "chen"], zero)  # both with a timestamp in March 2026
    stock(course, "db", "assignment", "add", LESSON, "--duedate", "2026-03-02 00:00:00 UTC")
    assert run(course) == 0

    def penalties() -> dict[str, float]:
        with Gradebook(url, "pytorch_hooks") as book:
            found = book.assignment_submissions(LESSON)
            return {s.student.id: s.late_submission_penalty for s in found}

    full = {name: sum(wanted(name).values()) for name in ("ada", "chen")}
    assert penalties() == full
    with Gradebook(url, "pytorch_hooks") as book:
        book.find_submission(LESSON, "ada").extension = datetime.timedelta(days=300)
        book.db.commit()
    assert run(course, "--fresh") == 0
    assert penalties() == {"ada": 0.0, "chen": full["chen"]}
    rows = {r["student"]: r for r in csv.DictReader((course / "grades.csv").open(newline=""))}
    assert (float(rows["ada"]["score"]), float(rows["chen"]["score"])) == (full["ada"], 0.0)

    # nbgrader's own step finds the same, from what is in the database.
    with Gradebook(url, "pytorch_hooks") as book:
        for submission in book.assignment_submissions(LESSON):
            submission.notebooks[0].late_submission_penalty = 1.0
        book.db.commit()
    config = Settings.of(course).config
    for student in full:
        names = {"student": student, "assignment": LESSON, "notebook": NAME, "db_url": url}
        step = AssignLatePenalties(config=config)
        step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": names})
    assert penalties() == {"ada": 0.0, "chen": full["chen"]}


def test_a_server_that_goes_away_for_a_moment_is_waited_for(
    postgresql: PostgreSQLExecutor, url: str, tmp_path: Path
) -> None:
    course = course_on(url, tmp_path, ["chen", "dara"])
    gate = hold(course, "held")
    with Grader(course, "--json", "out.json", patient=True) as grader:
        assert grader.until(lambda: grader.done() == 2), grader.said()
        with postgresql.stopped():
            gate.touch()
            assert grader.until(lambda: "waiting" in grader.said().lower()), grader.said()
        assert grader.exit_code() == 0, grader.said()
        assert "Traceback" not in grader.said() and PASSWORD not in grader.said()
    with Gradebook(url, "pytorch_hooks") as book:
        found = auto_scores(book)
    assert found == {name: wanted(name) for name in ("chen", "dara")} | {"held": wanted("ada")}
    assert {s["status"] for s in submissions(course / "out.json").values()} == {"graded"}


def test_a_server_that_is_away_at_the_start_is_waited_for(
    postgresql: PostgreSQLExecutor, url: str, tmp_path: Path
) -> None:
    course = course_on(url, tmp_path, ["chen"])
    with ExitStack() as stack:
        with postgresql.stopped():
            grader = stack.enter_context(Grader(course))
            assert grader.until(lambda: "waiting" in grader.said().lower()), grader.said()
        assert grader.exit_code() == 0, grader.said()
    with Gradebook(url, "pytorch_hooks") as book:
        assert auto_scores(book) == {"chen": wanted("chen")}
