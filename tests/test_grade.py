"""``autograder grade`` on the example class, and on what else students hand in."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import warm_workers
from classroom import (
    CLASS,
    EXPECTED,
    IDS,
    LESSON,
    NAME,
    POINTS,
    ROOT,
    gradebook,
    make_course,
    marks,
    run,
    wanted,
)
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade, is_grade
from runs import edit

from autograder import course
from autograder.desk import doctor, safe, submissions
from autograder.desk.executed import verdict_outputs
from autograder.desk.progress import Progress
from autograder.desk.results import Result
from autograder.desk.source import Settings
from autograder.engine import EngineError, Tier, Worker, best
from autograder.marking import Verdict

MISTAKES = {
    ("dara", "pre_hook"): "whole_tuple",
    ("dara", "hook"): "unchanged",
    ("dara", "module_hook"): "output_in_tuple",
    ("eli", "module_hook"): "output_first",
    ("fay", "hook"): "timed_out",
    ("ivo", "hook"): "todo",
    ("jun", "module_hook"): "hard_coded_one",
    ("noor", "hook"): "wrong_arity",
}


@pytest.fixture
def again(graded: Path, tmp_path: Path) -> Callable[[list[str]], Path]:
    """Makes a copy of the graded class, with only some students' work left in submitted/."""

    def copy(students: list[str]) -> Path:
        folder = tmp_path / "course"
        shutil.copytree(graded, folder)
        for path in (folder / "submitted").iterdir():
            if path.name not in students:
                shutil.rmtree(path)
        return folder

    return copy


def results(folder: Path) -> dict[str, Any]:
    """out.json's submissions by student."""
    out = json.loads((folder / "out.json").read_text())
    return {submission["student"]: submission for submission in out["submissions"]}


# The example class


def test_everybody_gets_a_status_and_the_marks_that_are_theirs(graded: Path) -> None:
    assert (graded / "rc").read_text() == "0"
    found = results(graded)
    assert list(found) == sorted(EXPECTED)
    for student, submission in found.items():
        assert submission["status"] == EXPECTED[student][0], student
        assert {e["id"]: e["points"] for e in submission["exercises"]} == wanted(student), student
    for (student, exercise), mistake in MISTAKES.items():
        told = next(e for e in found[student]["exercises"] if e["id"] == exercise)
        assert told["mistake"] == mistake, (student, told)


def test_an_endless_loop_costs_its_own_exercise_only(graded: Path) -> None:
    verdicts = {e["id"]: e["verdict"] for e in results(graded)["fay"]["exercises"]}
    assert verdicts == dict.fromkeys(IDS, "passed") | {"hook": "timed out"}


def test_the_json_has_the_documented_shape(graded: Path) -> None:
    out = json.loads((graded / "out.json").read_text())
    assert list(out) == ["lesson", "seconds", "submissions"]
    assert out["lesson"] == LESSON and out["seconds"] > 0
    for submission in out["submissions"]:
        assert list(submission) == [
            *("student", "score", "max_score", "status", "exercises", "notes", "kept", "tier")
        ]
        assert submission["tier"] == (None if submission["student"] in ("gus", "max") else best())
        assert submission["max_score"] == sum(POINTS.values())
        assert submission["score"] == sum(e["points"] for e in submission["exercises"])
        assert [e["id"] for e in submission["exercises"]] == IDS
        for exercise in submission["exercises"]:
            assert {"points", "max_points", "verdict", "mistake", "message"} <= exercise.keys()
            assert exercise["verdict"] == "passed" or exercise["message"]


def test_grades_csv_has_a_row_for_everybody(graded: Path) -> None:
    with (graded / "grades.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert list(rows) == sorted(EXPECTED)
    for student, row in rows.items():
        assert (row["lesson"], row["status"]) == (LESSON, EXPECTED[student][0])
        assert {name: float(row[name]) for name in IDS} == wanted(student)
        assert float(row["score"]) == sum(wanted(student).values())


def test_the_gradebook_is_as_nbgrader_would_have_written_it(graded: Path) -> None:
    assert marks(graded) == {student: wanted(student) for student in EXPECTED}
    with gradebook(graded) as book:
        for student in EXPECTED:
            submission = book.find_submission(LESSON, student)
            assert submission.score == sum(wanted(student).values())
            assert submission.max_score == sum(POINTS.values())
            assert not submission.needs_manual_grade
            assert submission.late_submission_penalty == 0
        ada = book.find_submission(LESSON, "ada")
        assert ada.timestamp.isoformat() == "2026-03-02T17:41:09"
        lea = book.find_comment("hook_answer", NAME, LESSON, "lea")
        assert lea.auto_comment == "No response."
        assert book.find_comment("hook_answer", NAME, LESSON, "ada").auto_comment is None


def test_formgrader_knows_all_of_them(graded: Path) -> None:
    settings = Settings.of(graded)
    api = NbGraderAPI(CourseDirectory(config=settings.config), config=settings.config)
    assert api.get_autograded_students(LESSON) == set(EXPECTED)
    assert api.get_submission(LESSON, "dara")["score"] == 4.0
    assert len(api.get_notebook_submissions(LESSON, NAME)) == len(EXPECTED)


def test_by_nbgraders_own_rule_the_notebooks_give_the_same_points(graded: Path) -> None:
    for student in EXPECTED:
        path = graded / "autograded" / student / LESSON / f"{NAME}.ipynb"
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        cells = [cell for cell in notebook.cells if is_grade(cell)]
        found = {cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in cells}
        assert found == wanted(student), student
        assert len(cells) == len(IDS)


def test_the_notebooks_show_what_a_grader_looks_for(graded: Path) -> None:
    def cells(student: str) -> list[Any]:
        path = graded / "autograded" / student / LESSON / f"{NAME}.ipynb"
        return nbformat.read(path, as_version=4).cells

    def outputs(student: str, grade_id: str) -> list[Any]:
        names = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in cells(student)}
        return names[grade_id].outputs

    (error,) = outputs("dara", "pre_hook")
    assert " ".join(error.traceback) == error.evalue and "tuple" in error.evalue
    assert max(map(len, error.traceback)) <= 96  # feedback's <pre> does not wrap
    (shown,) = outputs("ada", "pre_hook_answer")
    assert shown.text.startswith("answer: [tensor([2.]), tensor([3.])]")
    assert "too long" in outputs("fay", "hook_answer")[-1].evalue
    sources = [cell.source for cell in cells("kim")]
    assert any("does it work with a bigger tensor?" in source for source in sources)
    assert "cell 'hook' was missing: put back" in cells("hana")[0].source
    prose = [
        c.source
        for c in nbformat.read(ROOT / "solutions" / LESSON / f"{NAME}.ipynb", 4).cells
        if c.cell_type == "markdown"
    ]
    assert [c.source for c in cells("ada") if c.cell_type == "markdown"] == prose


def test_a_files_name_is_text_and_nothing_else(tmp_path: Path) -> None:
    folder = make_course(tmp_path, [])
    target = folder / "submitted" / "eve" / LESSON
    target.mkdir(parents=True)
    name = "<img src=x onerror=alert(1)>\n\n# Full marks.ipynb"
    shutil.copy(ROOT / "solutions" / LESSON / f"{NAME}.ipynb", target / name)
    assert run(folder) == 0
    (path,) = (folder / "autograded" / "eve").rglob("*.ipynb")
    notes = nbformat.read(path, as_version=4).cells[0].source
    assert "<img" not in notes
    assert "\n# Full marks" not in notes


# Once more


def test_regrading_resets_marks_and_keeps_what_people_gave(
    again: Callable[[list[str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = again(["ada", "dara"])
    with gradebook(folder) as book:
        grade = book.find_grade("hook", NAME, LESSON, "dara")
        grade.manual_score, grade.extra_credit = 2.0, 0.5
        book.find_comment("hook_answer", NAME, LESSON, "dara").manual_comment = "nearly"
        book.db.commit()
    with (folder / "grades.csv").open("a") as file:
        file.write("02_other,ada,graded,1,2,,,,,,\n")
    # Ada hands in again, and this time it breaks Python itself in one exercise.
    path = folder / "submitted" / "ada" / LESSON / f"{NAME}.ipynb"
    text = path.read_text()
    assert text.count("return output + 5") == 1
    path.write_text(text.replace("return output + 5", "__import__('os')._exit(0)"))
    (path.parent / "timestamp.txt").write_text("2026-03-03 08:00:00 UTC\n")

    assert run(folder) == 0
    assert marks(folder)["ada"] == wanted("ada") | {"hook": 0.0}
    assert marks(folder)["bo"] == wanted("bo"), "who was not graded now keeps their marks"
    with gradebook(folder) as book:
        assert book.find_submission(LESSON, "ada").timestamp.day == 3
        grade = book.find_grade("hook", NAME, LESSON, "dara")
        assert (grade.auto_score, grade.manual_score, grade.score) == (0.0, 2.0, 2.5)
        assert grade.needs_manual_grade, "as nbgrader: a person looks at it again"
        comment = book.find_comment("hook_answer", NAME, LESSON, "dara")
        assert comment.comment == "nearly"
    assert "6.5*" in capsys.readouterr().out
    rows = list(csv.DictReader((folder / "grades.csv").open(newline="")))
    assert [(r["lesson"], r["student"], float(r["score"])) for r in rows] == [
        (LESSON, "ada", 26.0), (LESSON, "dara", 6.5), ("02_other", "ada", 1.0),
    ]  # fmt: skip


def test_an_old_mark_does_not_outlive_a_file_that_broke(
    again: Callable[[list[str]], Path],
) -> None:
    folder = again(["ada"])
    (folder / "submitted" / "ada" / LESSON / f"{NAME}.ipynb").write_text("")
    assert run(folder) == 0
    assert marks(folder)["ada"] == dict.fromkeys(IDS, 0.0)
    assert "the file is empty" in (folder / f"autograded/ada/{LESSON}/{NAME}.ipynb").read_text()


def test_being_late_costs_what_nbgrader_is_set_to(again: Callable[[list[str]], Path]) -> None:
    folder = again(["ada", "bo"])
    with gradebook(folder) as book:
        book.update_or_create_assignment(LESSON, duedate="2026-03-02 00:00:00 UTC")
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    assert run(folder) == 0
    with gradebook(folder) as book:
        assert book.find_submission(LESSON, "ada").late_submission_penalty == 30
        assert book.find_submission(LESSON, "bo").late_submission_penalty == 0
    rows = {r["student"]: r for r in csv.DictReader((folder / "grades.csv").open(newline=""))}
    assert (rows["ada"]["score"], rows["bo"]["score"]) == ("0", "30")


def test_a_master_with_other_cells_than_the_marks_is_refused(
    again: Callable[[list[str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = again(["ada"])
    path = folder / "solutions" / LESSON / f"{NAME}.ipynb"
    path.write_text(path.read_text().replace('"given_timeline"', '"given_other"'))
    assert run(folder) == 2
    assert "new gradebook" in capsys.readouterr().err


def test_progress_is_one_line_on_a_terminal_and_many_elsewhere(tmp_path: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    ada = Result("ada", "graded", (), ("cell 'hook' timed out",), None)
    for stream, lines in ((Terminal(), 0), (io.StringIO(), 21)):
        progress = Progress(tmp_path / "grading.log", stream)
        progress.start(400)
        for number in range(1, 401):
            progress.done(number, 400, ada, LESSON)
        progress.end("done")
        assert stream.getvalue().count("\n") == lines
        assert re.search(rf"200 of 400 done, [\d:]+ left at .*/s: ada, {LESSON}", stream.getvalue())
    log = (tmp_path / "grading.log").read_text()
    assert log.count(f"ada, {LESSON}: cell 'hook' timed out") == 800
    assert log.count("INFO grading 400 submissions") == log.count("INFO done") == 2


# Other people's courses


def test_written_answers_wait_for_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def cell(kind: str, source: str, grade_id: str, **flags: object) -> Any:
        made = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        nbgrader = {"grade": False, "solution": False, "locked": False, "task": False} | flags
        nbgrader |= {"grade_id": grade_id, "schema_version": 3}
        return made(source, metadata={"nbgrader": nbgrader})

    def save(folder: Path, written: str, code: str) -> None:
        cells = [
            cell("code", code, "double_answer", solution=True),
            cell("code", "assert double(4) == 8", "double", grade=True, locked=True, points=3),
            cell("markdown", written, "essay", grade=True, solution=True, points=2),
            cell("markdown", "Draw a graph.", "drawing", task=True, points=5),
        ]
        folder.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "other.ipynb")

    nothing = "YOUR ANSWER HERE"  # what nbgrader gives out in place of the master's text
    save(tmp_path / "solutions" / "99_other", "Why?", "def double(x):\n    return 2 * x")
    save(tmp_path / "submitted" / "wrote" / "99_other", "Because.", "def double(x): return x + x")
    save(tmp_path / "submitted" / "silent" / "99_other", nothing, "def double(x): return x")
    assert run(tmp_path) == 0
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        found = {
            student: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for grade in book.find_submission("99_other", student).notebooks[0].grades
            }
            for student in ("wrote", "silent")
        }
    by_hand = (None, True)
    assert found["wrote"] == {"double": (3, False), "essay": by_hand, "drawing": by_hand}
    assert found["silent"] == {"double": (0, False), "essay": (0, False), "drawing": by_hand}
    notebook = nbformat.read(tmp_path / "autograded" / "wrote" / "99_other" / "other.ipynb", 4)
    assert next(c.source for c in notebook.cells if c.cell_type == "markdown") == "Because."
    assert "3 + 7 by hand" in capsys.readouterr().out
    grades = list(csv.DictReader((tmp_path / "grades.csv").read_text().splitlines()))
    assert [(row["score"], row["max_score"]) for row in grades] == [("0", "10"), ("3", "10")]


def test_part_of_the_points_is_read_by_nbgrader_too() -> None:
    outputs = verdict_outputs(Verdict("hook", 2.5, 4, "failed", "half", "Half of it."))
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(o) for o in outputs])
    cell.metadata.nbgrader = {"grade": True, "solution": False, "grade_id": "hook", "points": 4}
    assert determine_grade(nbformat.from_dict(cell)) == (2.5, 4)


# What else is handed in


def test_odd_submissions_stop_nobody(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_course(tmp_path / "course", ["chen"])
    shutil.copy(graded / "gradebook.db", folder)  # making one takes seconds
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('hello')")])
    secret = tmp_path / "secret.ipynb"
    shutil.copy(CLASS / "ada" / LESSON / f"{NAME}.ipynb", secret)

    def place(student: str) -> Path:
        made = folder / "submitted" / student / LESSON
        made.mkdir(parents=True)
        return made

    nbformat.write(other, place("other") / "other.ipynb")
    (place("empty") / f"{NAME}.ipynb").touch()
    (place("binary") / f"{NAME}.ipynb").write_bytes(os.urandom(300))
    (place("link") / f"{NAME}.ipynb").symlink_to(secret)
    os.mkfifo(place("pipe") / f"{NAME}.ipynb")
    (folder / "submitted" / "linked").mkdir()
    (folder / "submitted" / "linked" / LESSON).symlink_to(CLASS / "ada" / LESSON)
    (folder / "submitted" / "nothing").mkdir()
    (folder / "submitted" / "notes.txt").write_text("not a student")
    stamp = place("stamp")
    shutil.copy(secret, stamp / "mine.ipynb")
    (stamp / "timestamp.txt").write_text("yesterday evening")

    assert run(folder, "--json", tmp_path / "out.json", "--jobs", "1") == 0
    found = {name: entry["status"] for name, entry in results(tmp_path).items()}
    assert found == {
        "binary": "unreadable",
        "chen": "graded",
        "empty": "unreadable",
        "link": "unreadable",
        "linked": "unreadable",
        "nothing": "missing",
        "other": "other lesson",
        "pipe": "unreadable",
        "stamp": "graded",
    }
    out = capsys.readouterr().out
    assert "stamp: timestamp.txt can't be read as a time" in out
    written = marks(folder)
    assert written["chen"] == wanted("chen") and written["stamp"] == wanted("ada")
    assert written["other"] == dict.fromkeys(IDS, 0.0)
    assert "nothing" not in written, "no entry for what nobody handed in"


@pytest.mark.parametrize(
    ("tier", "status", "lost"),
    [
        (None, "graded", ["hook"]),
        # Without walls it ends the warm process, each time it runs: no older marks outlive that.
        ("C", "crashed", IDS),
    ],
)
def test_an_answer_that_kills_the_grader(
    tier: Tier | None, status: str, lost: list[str], graded: Path, tmp_path: Path
) -> None:
    folder = make_course(tmp_path / "course", ["ada"])
    shutil.copy(graded / "gradebook.db", folder)
    kill = "import os; os.kill(os.getppid(), 9); return output + 5"
    edit(
        folder / f"submitted/ada/{LESSON}/{NAME}.ipynb",
        "hook_answer",
        lambda source: source.replace("return output + 5", kill),
    )
    options = ["--json", tmp_path / "out.json", "--jobs", "1", "--unconfined"]
    assert run(folder, *options, tier=tier) == 0
    assert results(tmp_path)["ada"]["status"] == status
    assert marks(folder)["ada"] == wanted("ada") | dict.fromkeys(lost, 0.0)


TROUBLE = "root's Python is in a folder that only root can enter"


class Broken(Worker):
    """A worker whose process ends before it is warm; or that breaks at once."""

    def __init__(self, when: str) -> None:
        self.when = when

    def reference(self, *_: Any, **__: Any) -> Any:
        raise EngineError(TROUBLE)

    def stop(self) -> None: ...

    def close(self) -> None:
        self.when = "closed"


@pytest.mark.parametrize("option", [(), ("--unconfined",)])
@pytest.mark.parametrize("when", ["the first worker", "the second worker", "warming"])
def test_a_machine_that_can_run_nothing_stops_it_at_once(
    when: str,
    option: tuple[str, ...],
    graded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = make_course(tmp_path / "course", ["ada", "chen", "dara"])
    shutil.copy(graded / "gradebook.db", folder)
    made: list[Broken] = []

    def start(*_: object, **__: object) -> Worker:
        if when == "the first worker" or (made and when == "the second worker"):
            raise EngineError(TROUBLE)
        made.append(Broken(when))
        return made[-1]

    monkeypatch.setattr(warm_workers, "start", start)
    assert run(folder, "--json", tmp_path / "out.json", "--jobs", "2", *option) == 2
    said = capsys.readouterr()
    assert said.err.count(TROUBLE) == 1
    assert said.err.splitlines()[-1].startswith("autograder: ")
    assert "not graded" not in said.out
    assert not (folder / "grades.csv").exists()
    assert not (tmp_path / "out.json").exists()
    assert TROUBLE in (folder / "grading.log").read_text()
    assert marks(folder)["ada"] == wanted("ada")
    assert {worker.when for worker in made} <= {"closed"}


@pytest.mark.parametrize("tier", ["A", "B", "C"])
def test_the_doctor_sends_nobody_to_an_option_that_does_not_help(
    tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> Worker:
        raise EngineError(TROUBLE)

    monkeypatch.setattr(doctor, "best", lambda: tier)
    monkeypatch.setattr(doctor, "Worker", start)
    text, fine = doctor.report()
    *_, trouble, _, advice = text.splitlines()
    assert (fine, trouble) == (False, f"✗ a notebook: {TROUBLE}")
    assert "mend the line above" in advice
    assert "--unconfined" not in advice


def test_files_that_a_lesson_ships_are_there_and_only_to_read(tmp_path: Path) -> None:
    folder = make_course(tmp_path / "course", ["ada"])
    shipped = folder / "solutions" / LESSON / "numbers.csv"
    shipped.write_text("5")
    tries = "try:\n    open('numbers.csv', 'w')\n    1 / 0\nexcept OSError:\n    pass\n"
    edit(
        folder / f"submitted/ada/{LESSON}/{NAME}.ipynb",
        "hook_answer",
        lambda source: (
            tries + source.replace("output + 5", "output + int(open('numbers.csv').read())")
        ),
    )
    assert run(folder) == 0
    assert marks(folder)["ada"] == wanted("ada")
    shipped.write_text("6")  # what was graded with other files is run again
    assert run(folder) == 0
    assert marks(folder)["ada"] == wanted("ada") | {"hook": 0.0}
    assert shipped.read_text() == "6"


def test_what_can_not_be_shown_costs_nobody_a_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_course(tmp_path / "course", ["ada", "bo"])
    shows = "from IPython.display import HTML, display\ndisplay(HTML('<b>\\ud800</b>'))\n"
    edit(folder / f"submitted/ada/{LESSON}/{NAME}.ipynb", "hook_answer", lambda text: shows + text)
    assert run(folder) == 0
    assert "can't be shown" not in capsys.readouterr().out

    def stops(text: str) -> str:
        raise LookupError(f"no place for {text}")

    monkeypatch.setattr(safe, "html", stops)
    assert run(folder, "--fresh") == 0
    assert "ada: what it shows can't be shown: no place for <b>" in capsys.readouterr().out
    assert marks(folder) == {name: wanted(name) for name in ("ada", "bo")}


def test_of_several_notebooks_the_newest_of_this_lesson_counts(tmp_path: Path) -> None:
    folder = tmp_path / LESSON
    folder.mkdir()
    masters = course.Course(ROOT).masters()
    master = next(master for master in masters if master.lesson == LESSON)
    for age, (name, student) in enumerate([("new", "gus"), ("middle", "chen"), ("old", "ada")]):
        source = CLASS / student / LESSON / f"{NAME}.ipynb"
        shutil.copy(source, folder / f"{name}.ipynb")
        os.utime(folder / f"{name}.ipynb", (1e9 - age, 1e9 - age))
    (folder / ".ipynb_checkpoints").mkdir()
    found = submissions.find(submissions.Submission("x", LESSON, folder), master, masters)
    assert found.status == "found" and found.notebook == folder / "middle.ipynb"


# The command


def test_what_lies_where_nobody_looks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_course(tmp_path / "course", ["max"])
    submitted = folder / "submitted"
    (submitted / "ada" / "01_add_and_modle").mkdir(parents=True)
    for place in (submitted, submitted / "ada", submitted / "ada" / "01_add_and_modle"):
        shutil.copy(CLASS / "ada" / LESSON / f"{NAME}.ipynb", place)
    assert run(folder) == 0
    said = capsys.readouterr().err
    for line in (
        f"submitted/{NAME}.ipynb is in no student's folder: left alone",
        f"submitted/ada/{NAME}.ipynb is in no lesson's folder: left alone",
        "submitted/ada/01_add_and_modle is no lesson's folder: left alone",
    ):
        assert line in said
    assert "max" not in said.split("grading")[0]


def test_exit_codes_and_next_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path) == 2
    assert "submitted/STUDENT/LESSON" in capsys.readouterr().err
    (tmp_path / "submitted").mkdir()
    assert run(tmp_path) == 2
    assert "no submissions of any lesson" in capsys.readouterr().err
    (tmp_path / "submitted" / "ada" / "01_x").mkdir(parents=True)
    assert run(tmp_path, "01_x") == 2
    assert f"lessons here: {LESSON}" in capsys.readouterr().err
    assert run(tmp_path, LESSON) == 2
    assert f"no submissions of {LESSON}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(tmp_path, "--jobs", "0")


def test_ctrl_c_ends_it_cleanly_and_says_how_to_go_on(graded: Path, tmp_path: Path) -> None:
    folder = make_course(tmp_path / "course", ["ada", "fay"])
    shutil.copy(graded / "gradebook.db", folder)
    with gradebook(folder) as book:
        for student in EXPECTED:
            book.remove_student(student)
    command = [sys.executable, "-m", "autograder", "grade", "--jobs", "1"]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stderr=subprocess.PIPE, process_group=0
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "1 of 2 done" in line and "ada" in line:
            break
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
    said += process.stderr.readlines()
    assert process.wait(60) == 130, "".join(said)
    assert "1 of 2 submissions are graded" in said[-1] and "same command again" in said[-1]
    assert "Traceback" not in "".join(said)
    assert marks(folder) == {"ada": wanted("ada")}
    assert not list(temporary.iterdir())
    assert not [cwd for cwd in map(_cwd, Path("/proc").glob("[0-9]*")) if str(temporary) in cwd]


def _cwd(process: Path) -> str:
    try:
        return str((process / "cwd").readlink())
    except OSError:  # ended meanwhile
        return ""
