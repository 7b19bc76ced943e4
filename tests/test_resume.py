"""Grading once more: what did not change is kept, what did is run, and only one grader writes."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from classroom import LESSON, NAME, gradebook, make_course, marks, run, wanted
from runs import Grader, edit, hand_in, hold, submissions

from autograder.desk import kept
from autograder.engine import Limits

STUDENTS = ["ada", "chen", "dara", "gus", "max"]
RUN = {"ada", "chen", "dara"}  # the others have nothing that could run
NOTEBOOK = f"{LESSON}/{NAME}.ipynb"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course graded once: don't write to it."""
    course = make_course(tmp_path_factory.mktemp("once") / "course", STUDENTS)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    assert run(course) == 0
    return course


@pytest.fixture
def course(once: Path, tmp_path: Path) -> Path:
    """A copy of it, in another place."""
    return Path(shutil.copytree(once, tmp_path / "course"))


def kept_by(course: Path, *arguments: str, limits: Limits | None = None) -> set[str]:
    """Grades; the students whose submissions were not run again."""
    assert run(course, "--json", course.parent / "out.json", *arguments, limits=limits) == 0
    found = submissions(course.parent / "out.json")
    assert {student: found[student]["score"] for student in STUDENTS} == {
        student: sum(wanted(student).values()) for student in STUDENTS
    }
    return {student for student, submission in found.items() if submission["kept"]}


def test_at_first_everything_is_run(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course", STUDENTS)
    assert not kept_by(course) & RUN


def test_what_did_not_change_is_not_run_again(course: Path) -> None:
    before = {path: path.read_bytes() for path in (course / "autograded").rglob("*.ipynb")}
    (course / "grades.csv").unlink()
    assert kept_by(course) >= RUN
    assert marks(course) == {student: wanted(student) for student in marks(course)}
    after = {path: path.read_bytes() for path in (course / "autograded").rglob("*.ipynb")}
    assert after == before
    rows = (course / "grades.csv").read_text().splitlines()
    assert len(rows) == 1 + len(STUDENTS)


def test_fresh_runs_all(course: Path) -> None:
    assert not kept_by(course, "--fresh") & RUN


def change_submission(handed_in: Path, graded: Path, result: Path) -> None:
    edit(handed_in, "hook_answer", lambda source: source.replace("output + 5", "5 + output"))


def add_an_own_cell(handed_in: Path, graded: Path, result: Path) -> None:
    notebook = json.loads(handed_in.read_text())
    cell = {"cell_type": "code", "id": "mine", "metadata": {}, "source": "print('my own')"}
    notebook["cells"].append(cell | {"outputs": [], "execution_count": None})
    handed_in.write_text(json.dumps(notebook))


def delete_graded_notebook(handed_in: Path, graded: Path, result: Path) -> None:
    graded.unlink()


def edit_graded_notebook(handed_in: Path, graded: Path, result: Path) -> None:
    """As stock nbgrader does when it grades the same student."""
    edit(graded, "hook_answer", lambda source: source + "\n# graded by nbgrader")


def spoil_result(handed_in: Path, graded: Path, result: Path) -> None:
    result.write_text(result.read_text()[:-9])


def lose_result(handed_in: Path, graded: Path, result: Path) -> None:
    result.unlink()


def touch(handed_in: Path, graded: Path, result: Path) -> None:
    """Nothing but the time of the file: unpacked once more, say."""
    handed_in.write_text(handed_in.read_text())


CHANGES = {
    "changer": change_submission,
    "adder": add_an_own_cell,
    "loser": delete_graded_notebook,
    "editor": edit_graded_notebook,
    "spoiler": spoil_result,
    "forgetter": lose_result,
    "toucher": touch,
}


def test_those_that_changed_are_run_again_and_nobody_else(once: Path, course: Path) -> None:
    for student in CHANGES:
        hand_in(course, student)
    assert run(course) == 0
    for student, change in CHANGES.items():
        change(
            course / "submitted" / student / NOTEBOOK,
            course / "autograded" / student / NOTEBOOK,
            course / ".autograder" / "results" / student / f"{LESSON}.json",
        )
    assert kept_by(course) >= RUN | {"toucher"}
    found = submissions(course.parent / "out.json")
    again = {student for student in found if not found[student]["kept"]} - {"gus", "max"}
    assert again == CHANGES.keys() - {"toucher"}
    graded = {
        student: (course / "autograded" / student / NOTEBOOK).read_text() for student in CHANGES
    }
    assert "5 + output" in graded["changer"] and "my own" in graded["adder"]
    assert "graded by nbgrader" not in graded["editor"]
    full = {student: wanted("ada") for student in CHANGES}
    assert marks(course) == marks(once) | full
    assert kept_by(course) >= RUN | CHANGES.keys(), "and once more it is kept"


def change_master(course: Path) -> None:
    path = course / "solutions" / NOTEBOOK
    edit(path, "hook", lambda source: source + "\n# the same, in other words")


def change_sentences(course: Path) -> None:
    path = course / "solutions" / LESSON / "mistakes.toml"
    path.write_text(path.read_text() + "\n# nothing new\n")


@pytest.mark.parametrize("change", [change_master, change_sentences])
def test_a_changed_master_runs_all_again(course: Path, change: Callable[[Path], None]) -> None:
    change(course)
    assert not kept_by(course) & RUN


def test_other_settings_run_all_again(course: Path) -> None:
    assert not kept_by(course, "--figures") & RUN
    assert kept_by(course, "--figures") >= RUN
    assert not kept_by(course, "--figures", limits=Limits(cell_seconds=9)) & RUN


def test_other_versions_run_all_again(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = kept.metadata.version
    monkeypatch.setattr(
        kept.metadata, "version", lambda name: "9.9" if name == "torch" else version(name)
    )
    assert not kept_by(course) & RUN


def test_a_lost_gradebook_is_filled_again(course: Path) -> None:
    before = marks(course)
    (course / "gradebook.db").unlink()
    kept_by(course)
    assert marks(course) == before


def version_of(book: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(book)) as db:
        return db.execute("SELECT version_num FROM alembic_version").fetchall()


# What a grader leaves that is killed while nbgrader makes the gradebook.
HALF_MADE = {
    "a file without tables": None,
    "some tables": "DROP TABLE {}",
    "no version": "DROP TABLE alembic_version",
    "an empty version": "DELETE FROM alembic_version",
}


@pytest.mark.parametrize("what", HALF_MADE)
def test_a_half_made_gradebook_is_made_whole(course: Path, what: str) -> None:
    before, book = marks(course), course / "gradebook.db"
    version = version_of(book)
    statement = HALF_MADE[what]
    if statement is None:
        book.write_bytes(b"")
    else:
        with closing(sqlite3.connect(book)) as db:
            names = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = [name for (name,) in db.execute(names) if name != "alembic_version"]
            for table in tables:
                db.execute(f"DELETE FROM {table}")
            db.execute(statement.format("grade"))
            if what == "some tables":
                db.execute("DROP TABLE alembic_version")
            db.commit()
    kept_by(course)
    assert version_of(book) == version
    assert marks(course) == before


def test_marks_given_by_people_and_due_dates_count_though_nothing_is_run(course: Path) -> None:
    with gradebook(course) as book:
        book.find_grade("hook", NAME, LESSON, "dara").extra_credit = 3.0
        book.update_or_create_assignment(LESSON, duedate="2026-01-01 00:00:00 UTC")
        book.db.commit()
    assert kept_by(course) >= RUN
    with gradebook(course) as book:
        ada = book.find_submission(LESSON, "ada")
        assert ada.late_submission_penalty == sum(wanted("ada").values())
        dara = book.find_grade("hook", NAME, LESSON, "dara")
        assert (dara.auto_score, dara.extra_credit) == (0.0, 3.0)


def test_a_mark_that_somebody_broke_is_set_right(course: Path) -> None:
    with gradebook(course) as book:
        book.find_grade("hook", NAME, LESSON, "ada").auto_score = 1.0
        book.db.commit()
    kept_by(course)
    assert marks(course)["ada"] == wanted("ada")


def test_a_new_timestamp_is_noted(course: Path) -> None:
    stamp = course / "submitted" / "ada" / LESSON / "timestamp.txt"
    stamp.write_text("2026-03-05 08:00:00 UTC\n")
    kept_by(course)
    with gradebook(course) as book:
        assert book.find_submission(LESSON, "ada").timestamp.day == 5
    written = course / "autograded" / "ada" / LESSON / "timestamp.txt"
    assert written.read_text().strip() == "2026-03-05 08:00:00 UTC"


# Not alone


def test_a_second_grader_says_so_and_stops(course: Path) -> None:
    gate = hold(course, "held")
    before = marks(course)
    with Grader(course, "--json", "out.json", patient=True) as first:
        assert first.until(lambda: first.done() >= len(STUDENTS)), first.said()
        with Grader(course) as second:
            assert second.exit_code() == 2
            assert "another" in second.said() and "at work" in second.said()
            assert "Traceback" not in second.said()
        assert marks(course) == before
        gate.touch()
        assert first.exit_code() == 0, first.said()
    assert marks(course) == before | {"held": wanted("ada")}
    assert kept_by_process(course), "afterwards the course is free again"


def kept_by_process(course: Path) -> bool:
    with Grader(course, "--json", "out.json", patient=True) as grader:
        assert grader.exit_code() == 0, grader.said()
    return all(submissions(course / "out.json")[student]["kept"] for student in RUN)


def test_a_locked_gradebook_is_waited_for(course: Path) -> None:
    gate = hold(course, "held")
    with Grader(course, patient=True) as grader:
        assert grader.until(lambda: grader.done() >= len(STUDENTS)), grader.said()
        other = sqlite3.connect(course / "gradebook.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        gate.touch()
        assert grader.until(lambda: "waiting" in grader.said().lower()), grader.said()
        other.execute("COMMIT")
        other.close()
        assert grader.exit_code() == 0, grader.said()
        assert "Traceback" not in grader.said()
    expected = {student: wanted(student) for student in STUDENTS} | {"held": wanted("ada")}
    assert marks(course) == {student: expected[student] for student in marks(course)}
    assert "held" in marks(course)


def test_a_gradebook_that_is_locked_from_the_start_is_waited_for(course: Path) -> None:
    other = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with Grader(course) as grader:
        assert grader.until(lambda: "waiting" in grader.said().lower()), grader.said()
        other.execute("COMMIT")
        other.close()
        assert grader.exit_code() == 0, grader.said()
