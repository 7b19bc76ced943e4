"""What goes wrong around a gradebook: marks stay, nobody else pays, and it says what to do."""

from __future__ import annotations

import csv
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import psycopg
import pytest
import tenacity
from classroom import IDS, LESSON, NAME, gradebook, make_course, marks, run, wanted
from runs import Grader, edit, hand_in, submissions
from sqlalchemy.exc import DBAPIError, OperationalError

from autograder.desk import database
from autograder.desk import gradebook as writer
from autograder.desk.source import Source
from autograder.engine import Limits

NOTEBOOK = f"{LESSON}/{NAME}.ipynb"
PATIENT = Limits(cell_seconds=200, notebook_seconds=250)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with two students, graded once: don't write to it."""
    course = make_course(tmp_path_factory.mktemp("once") / "course", ["ada", "chen"])
    assert run(course, limits=PATIENT) == 0
    return course


@pytest.fixture
def course(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(once, tmp_path / "course"))


@pytest.fixture
def grade(course: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Grades it again; the exit code, and what became of whom."""

    def again(*arguments: str) -> tuple[int, dict[str, Any]]:
        file = course.parent / "out.json"
        code = run(course, "--json", file, *arguments, limits=PATIENT)
        return code, submissions(file)

    return again


Grade = Callable[..., tuple[int, dict[str, Any]]]


# Gradebooks that go away


class Gone(sqlite3.OperationalError):
    sqlite_errorname = "SQLITE_BUSY"


class Missing(sqlite3.OperationalError):
    sqlite_errorname = "SQLITE_ERROR"


def be_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database is tried twice, for however long it should be waited."""
    twice = tenacity.stop_after_attempt(2)
    monkeypatch.setattr(database.tenacity, "stop_after_delay", lambda seconds: twice)


def test_one_that_is_gone_for_good_stops_the_run_and_is_waited_for_once(
    course: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def gone(book: object, source: object, entry: writer.Entry) -> None:
        calls.append(entry.student)
        raise OperationalError("UPDATE", {}, Gone("database is locked"))

    monkeypatch.setattr(writer.Gradebook, "_write", gone)
    be_impatient(monkeypatch)
    assert run(course) == 2
    said = capsys.readouterr().err
    assert "can't be reached any more (database is locked)" in said and "same command" in said
    assert len(set(calls)) == 1, "each of the others would wait as long"
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}

    monkeypatch.undo()
    code, found = grade()
    assert code == 0 and {s["status"] for s in found.values()} == {"graded"}


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (Gone("locked"), True),
        (Missing("no such table"), False),
        (sqlite3.IntegrityError("UNIQUE"), False),
        (psycopg.OperationalError("connection refused"), True),
        (psycopg.errors.DeadlockDetected("deadlock"), True),
        (psycopg.errors.SerializationFailure("conflict"), True),
        (psycopg.errors.TooManyConnections("many"), True),
        (psycopg.errors.AdminShutdown("ends"), True),
        (psycopg.errors.InvalidPassword("no"), False),
        (psycopg.errors.DiskFull("full"), False),
    ],
    ids=lambda value: str(value),
)
def test_what_passes_is_waited_for_and_nothing_else(error: Exception, passes: bool) -> None:
    module = psycopg if isinstance(error, psycopg.Error) else sqlite3
    found = DBAPIError.instance("", {}, error, module.Error)
    assert database.passes(found) is passes


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql+psycopg://me:secret@127.0.0.1:1/none", "127.0.0.1:1/none"),
        ("no address: secret", "no address of a database"),
        ("nosuch://me:secret@host/none", "nosuch://me:***@host/none"),
        ("sqlite:////proc/none/gradebook.db", "/proc/none/gradebook.db"),
    ],
)
def test_one_that_can_not_be_opened_is_named_and_no_password(
    course: Path,
    url: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    be_impatient(monkeypatch)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    assert run(course) == 2
    said = capsys.readouterr().err
    assert says in said and "nbgrader_config.py" in said
    assert "secret" not in said and "Traceback" not in said


# Submissions and masters that can't be read or kept


def test_files_that_this_account_may_not_read_leave_marks_as_they_are(
    course: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read all, so the system's answer is put on."""
    forbidden = course / "submitted" / "ada" / NOTEBOOK
    opened = Path.open

    def refuse(path: Path, *args: Any, **more: Any) -> Any:
        if path == forbidden:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **more)

    monkeypatch.setattr(Path, "open", refuse)
    code, found = grade("--fresh")
    assert code == 2, "somebody could not be graded"
    assert (
        found["ada"]["status"] == "not graded" and "Permission denied" in found["ada"]["notes"][0]
    )
    assert found["chen"]["status"] == "graded"
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}
    rows = {r["student"]: r for r in csv.DictReader((course / "grades.csv").open(newline=""))}
    assert rows["ada"]["status"] == "not graded"
    assert float(rows["ada"]["score"]) == sum(wanted("ada").values()), "what the gradebook keeps"
    assert [float(rows["ada"][name]) for name in IDS] == list(wanted("ada").values())


def test_a_folder_that_this_account_may_not_open(
    course: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden = course / "submitted" / "ada" / LESSON
    listed = Path.iterdir

    def refuse(path: Path) -> Any:
        if path == forbidden:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    code, found = grade()
    assert code == 2 and found["ada"]["status"] == "not graded"
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}


def test_names_that_are_no_utf_8_stop_nobody(course: Path) -> None:
    odd = os.fsdecode(b"z\xfcrich")
    shutil.copytree(course / "submitted" / "ada", course / "submitted" / odd)
    # In a process of its own: pytest-xdist can't carry such a name, in what is said here.
    with Grader(course, "--json", "out.json", patient=True) as grader:
        assert grader.exit_code() == 2, "a gradebook has no place for such a name"
    found = submissions(course / "out.json")
    assert {found[name]["status"] for name in ("ada", "chen")} == {"graded"}
    (other,) = (entry for name, entry in found.items() if name not in ("ada", "chen"))
    assert other["status"] == "not graded" and other["notes"]
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}


def test_a_renamed_master_is_refused_where_marks_hang_on_its_name(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "solutions" / NOTEBOOK).rename(course / "solutions" / LESSON / "renamed.ipynb")
    assert run(course) == 2
    said = capsys.readouterr().err
    assert f"{NAME}.ipynb" in said and "that name again" in said
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}


def test_a_results_file_is_whole_or_not_there(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere" / "out.json"
    for bad in (tmp_path, nowhere):
        before = marks(course)
        assert run(course, "--json", bad) == 2, "before anything is graded"
        assert "grading" not in capsys.readouterr().err
        assert marks(course) == before
    assert run(course, "--json", "/dev/stdout") == 0
    assert Path("/dev/stdout").is_symlink()
    file = tmp_path / "out.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.desk.report.write_csv", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(course, "--json", file)
    assert not file.exists()


def test_a_link_among_the_graded_is_replaced_and_never_written_through(
    course: Path, grade: Grade, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    graded = course / "autograded" / "ada" / NOTEBOOK
    graded.unlink()
    graded.symlink_to(victim)
    assert grade()[0] == 0
    assert victim.read_text() == "kept"
    assert not graded.is_symlink() and graded.stat().st_size > 1_000


# Marks


def test_who_marked_by_hand_need_not_look_again_where_nothing_changed(
    course: Path, grade: Grade
) -> None:
    with gradebook(course) as book:
        mark = book.find_grade("hook", NAME, LESSON, "chen")
        mark.manual_score, mark.needs_manual_grade = 1.5, False  # as formgrader leaves it
        book.db.commit()
    assert grade()[1]["chen"]["kept"]
    with gradebook(course) as book:
        assert not book.find_grade("hook", NAME, LESSON, "chen").needs_manual_grade
    assert not grade("--fresh")[1]["chen"]["kept"]
    with gradebook(course) as book:
        assert book.find_grade("hook", NAME, LESSON, "chen").needs_manual_grade


@pytest.mark.long
def test_what_took_too_long_is_run_again_and_nothing_else(course: Path) -> None:
    edit(hand_in(course, "slow"), "hook_answer", lambda source: source + "\nwhile True: pass\n")
    limits = Limits(cell_seconds=3)
    out = course.parent / "out.json"
    for kept in (set(), {"ada", "chen"}):
        assert run(course, "--json", out, limits=limits) == 0
        found = submissions(out)
        assert {name for name, entry in found.items() if entry["kept"]} == kept
        slow = {exercise["verdict"] for exercise in found["slow"]["exercises"]}
        assert "timed out" in slow


LATE = """
import sys, types
from nbgrader.plugins import BasePlugin
late = sys.modules["late_for_a_test"] = types.ModuleType("late_for_a_test")
class Late(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if student_id == "ada":
            raise ZeroDivisionError("anybody's program")
        return 1.0
late.Late = Late
c.AssignLatePenalties.plugin_class = "late_for_a_test.Late"
"""


def test_a_plug_in_for_late_penalties_that_stops_costs_nobody_a_mark(
    course: Path, grade: Grade
) -> None:
    with gradebook(course) as book:
        book.update_or_create_assignment(LESSON, duedate="2020-01-01 00:00:00 UTC")
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(LATE)
    for student in ("ada", "chen"):
        stamp = course / "submitted" / student / LESSON / "timestamp.txt"
        stamp.write_text("2026-03-03 08:00:00 UTC\n")
    code, found = grade()
    assert code == 2
    assert (
        found["ada"]["status"] == "not graded" and "anybody's program" in found["ada"]["notes"][0]
    )
    assert found["chen"]["status"] == "graded"
    assert marks(course) == {"ada": wanted("ada"), "chen": wanted("chen")}
    with gradebook(course) as book:
        assert book.find_submission(LESSON, "chen").late_submission_penalty == 1


def test_what_the_learner_added_is_there_for_who_marks(course: Path, grade: Grade) -> None:
    path = course / "submitted" / "ada" / NOTEBOOK
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("I was not sure about this one."))
    nbformat.write(notebook, path)
    assert grade()[0] == 0
    graded = nbformat.read(course / "autograded" / "ada" / NOTEBOOK, as_version=4)
    assert "I was not sure about this one." in [cell.source for cell in graded.cells]


def test_ctrl_c_while_a_lesson_is_recorded_ends_cleanly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_course(tmp_path / "course", ["ada"])
    recorded = writer.Gradebook._recorded

    def interrupted(book: writer.Gradebook, source: Source) -> bool:
        """As SQLAlchemy leaves it where a signal breaks into a statement."""
        recorded(book, source)
        book._db.connection().invalidate()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer.Gradebook, "_recorded", interrupted)
        assert run(folder) == 130
    said = capsys.readouterr().err
    assert "same command" in said and "not recorded" not in said
    assert run(folder) == 0
    assert marks(folder) == {"ada": wanted("ada")}
