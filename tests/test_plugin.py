"""``nbgrader autograde`` and formgrader's Autograde button, with the engine's steps in them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat.v4 as v4
import pytest
from classroom import IDS, LESSON, NAME, ROOT, gradebook, marks, wanted
from nbgrader.converters import NbGraderException
from nbgraders import STALE, autograde, command, executed, named, pages, ungraded

from autograder.desk import plugin
from autograder.desk.pool import Setup
from autograder.desk.source import Settings
from autograder.engine import EngineError

ZERO = dict.fromkeys(IDS, 0.0)


@pytest.fixture(scope="module", autouse=True)
def _no_worker_stays() -> Iterator[None]:
    yield
    plugin._WARM.close()


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy of the class, not graded, of some students."""
    return lambda *students: ungraded(graded, tmp_path / "course", students)


def notebook_of(folder: Path, student: str) -> Path:
    return folder / "submitted" / student / LESSON / f"{NAME}.ipynb"


def test_the_command_gives_the_engines_marks(course: Callable[..., Path], graded: Path) -> None:
    folder = course("dara", "eli", "fay", "gus", "hana", "max")
    shutil.copytree(folder / "submitted" / "dara", folder / "submitted" / "zoe")
    notebook_of(folder, "zoe").write_bytes(b"")
    done = command(folder, "autograde", LESSON)
    found = marks(folder)
    for student in ("dara", "fay", "hana"):
        assert found[student] == wanted(student), student
        assert outlines(folder, student) == outlines(graded, student)
    assert "fay, 01_add_and_model/add_and_model: cell 'hook_answer' timed out" in done.stdout
    notes = executed(folder, "hana")[0].source
    assert notes == executed(graded, "hana")[0].source
    assert "cell 'hook' was missing: put back" in notes

    # What nbgrader can't read, or doesn't know by its name, never reaches the engine.
    assert done.returncode == 1
    assert "Skipping unknown notebook" in done.stdout  # eli's is renamed
    assert done.stdout.count("Notebook does not appear to be JSON") == 2  # gus and zoe
    for student in ("eli", "gus"):
        assert found[student] == dict.fromkeys(IDS, STALE), "marks stay"
    for student in ("eli", "gus", "zoe"):
        assert not (folder / "autograded" / student / LESSON).exists()
    assert "matched by" in done.stdout and found["max"] == dict.fromkeys(IDS, STALE)


def test_too_many_files_beside_a_notebook_cost_only_its_own_marks(
    course: Callable[..., Path],
) -> None:
    folder = course("bo", "ivo")
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write("\nc.AutograderLimits.files = 60\n")
    for number in range(30):
        (notebook_of(folder, "bo").parent / f"{number}.txt").touch()
    autograde(folder)
    found = marks(folder)
    assert found["bo"] == ZERO, "an old mark does not outlive it"
    assert found["ivo"] == wanted("ivo")


def outlines(folder: Path, student: str) -> list[object]:
    """What a graded notebook says, without the values, which are drawn anew each time."""
    return [
        (cell.source, cell.metadata, [(out.output_type, out.get("ename")) for out in cell.outputs])
        for cell in executed(folder, student)
        if cell.cell_type == "code"
    ]


def test_the_button_gives_the_engines_marks(course: Callable[..., Path], graded: Path) -> None:
    students = ["bo", "ivo", "kim", "noor"]
    folder = course(*students)
    button = pages(folder)
    for student in students:
        assert button.autograde(LESSON, student)["success"]
        assert marks(folder)[student] == wanted(student), student
        assert outlines(folder, student) == outlines(graded, student)
        submission = button.get_submission(LESSON, student)
        assert submission["autograded"] and not submission["needs_manual_grade"]
        assert submission["score"] == sum(wanted(student).values())
    assert any("Note to myself" in cell.source for cell in executed(folder, "kim"))


def test_what_people_gave_stays_when_a_student_hands_in_again(course: Callable[..., Path]) -> None:
    folder = course("ada", "lea")
    (folder / "submitted/ada" / LESSON / "timestamp.txt").write_text("2026-03-02 17:41:09 UTC")
    autograde(folder)
    with gradebook(folder) as book:
        grade = book.find_grade("hook", NAME, LESSON, "ada")
        grade.manual_score, grade.extra_credit = 2.0, 0.5
        book.find_comment("hook_answer", NAME, LESSON, "ada").manual_comment = "nearly"
        lea = book.find_comment("hook_answer", NAME, LESSON, "lea")
        assert lea.auto_comment == "No response."
        book.db.commit()

    path = notebook_of(folder, "ada")
    text = path.read_text()
    assert text.count("return output + 5") == 1
    path.write_text(text.replace("return output + 5", "__import__('os')._exit(0)"))
    autograde(folder)
    assert marks(folder)["ada"] == wanted("ada"), "nbgrader goes by the time it was handed in"

    (path.parent / "timestamp.txt").write_text("2026-03-03 08:00:00 UTC")
    autograde(folder)
    assert marks(folder)["ada"] == wanted("ada") | {"hook": 0.0}
    with gradebook(folder) as book:
        assert book.find_submission(LESSON, "ada").timestamp.day == 3
        grade = book.find_grade("hook", NAME, LESSON, "ada")
        assert (grade.score, grade.needs_manual_grade) == (2.5, True)
        comment = book.find_comment("hook_answer", NAME, LESSON, "ada")
        assert (comment.comment, comment.auto_comment) == ("nearly", None)


def test_being_late_costs_what_nbgrader_is_set_to(course: Callable[..., Path]) -> None:
    folder = course("ada")
    with gradebook(folder) as book:
        book.update_or_create_assignment(LESSON, duedate="2026-03-02 00:00:00 UTC")
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    assert pages(folder).autograde(LESSON, "ada")["success"]
    with gradebook(folder) as book:
        assert book.find_submission(LESSON, "ada").late_submission_penalty == 30


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("another lesson", "add_and_model.ipynb is a notebook of 02_other/other.ipynb"),
        ("something else", "add_and_model.ipynb holds nothing of this lesson"),
        ("too much", "add_and_model.ipynb: a cell is longer than 200000 characters"),
    ],
)
def test_what_is_not_this_lesson_earns_nothing_and_says_why(
    course: Callable[..., Path], what: str, reason: str
) -> None:
    folder = course("ada")
    other = v4.new_notebook(
        cells=[v4.new_code_cell("other = 1", metadata=answer_metadata("other_answer"))]
    )
    (folder / "solutions" / "02_other").mkdir()
    (folder / "solutions" / "02_other" / "other.ipynb").write_text(json.dumps(other))
    (folder / "solutions" / "02_other" / "broken.ipynb").write_text("not today")
    cells = {
        "another lesson": other.cells,
        "something else": [v4.new_code_cell("shopping = ['milk']")],
        "too much": [v4.new_code_cell("x" * 200_001)],
    }
    notebook_of(folder, "ada").write_text(json.dumps(v4.new_notebook(cells=cells[what])))
    assert pages(folder).autograde(LESSON, "ada")["success"]
    assert marks(folder)["ada"] == ZERO
    found = executed(folder, "ada")
    assert reason in found[0].source
    assert named(found)["hook"].outputs[0].evalue == reason


def answer_metadata(grade_id: str) -> dict[str, object]:
    nbgrader = {
        "grade": False, "grade_id": grade_id, "locked": False, "schema_version": 3,
        "solution": True, "task": False,
    }  # fmt: skip
    return {"nbgrader": nbgrader}


def test_a_submission_that_kills_the_engine_costs_itself_one_exercise(
    course: Callable[..., Path],
) -> None:
    folder = course("ada", "bo")
    path = notebook_of(folder, "ada")
    kill = "__import__('os').kill(__import__('os').getppid(), 9)"
    path.write_text(path.read_text().replace("return output + 5", f"return {kill}"))
    autograde(folder)
    assert marks(folder)["ada"] == wanted("ada") | {"hook": 0.0}
    assert "PermissionError" in named(executed(folder, "ada"))["hook"].outputs[0].evalue
    assert marks(folder)["bo"] == wanted("bo")


def test_without_walls_it_earns_nothing_and_harms_nobody(
    course: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = course("ada", "bo")
    monkeypatch.setattr(plugin, "Setup", partial(Setup, tier="C"))
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write("c.Engine.unconfined = True\n")
    path = notebook_of(folder, "ada")
    kill = "__import__('os').kill(__import__('os').getppid(), 9)"
    path.write_text(path.read_text().replace("return output + 5", f"return {kill}"))
    autograde(folder)
    assert marks(folder)["ada"] == ZERO
    assert kill in named(executed(folder, "ada"))["hook_answer"].source
    assert named(executed(folder, "ada"))["hook"].outputs[0].evalue.startswith("the engine's warm")
    assert marks(folder)["bo"] == wanted("bo")


def test_without_walls_nothing_runs(
    course: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = course("ada")
    monkeypatch.setattr(plugin, "Setup", partial(Setup, tier="C"))
    result = pages(folder).autograde(LESSON, "ada")
    assert not result["success"]
    assert "can't be confined here, so none was run (tier C" in result["log"]
    assert "c.Engine.unconfined = True" in result["log"]
    assert marks(folder)["ada"] == dict.fromkeys(IDS, STALE)


def test_beside_a_course_among_the_programs_nothing_runs(
    course: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = course("ada")
    monkeypatch.setattr("autograder.desk.pool.exposes", lambda root: Path("/usr/lib"))
    result = pages(folder).autograde(LESSON, "ada")
    assert not result["success"]
    assert "notebooks may read /usr/lib" in result["log"]
    assert marks(folder)["ada"] == dict.fromkeys(IDS, STALE)


def test_a_limit_that_is_none_is_said(course: Callable[..., Path]) -> None:
    folder = course("ada")
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write("c.AutograderLimits.cell_second = 8\n")
    result = pages(folder).autograde(LESSON, "ada")
    assert not result["success"]
    assert "there is no limit 'cell_second'; limits are cell_seconds" in result["log"]
    assert marks(folder)["ada"] == dict.fromkeys(IDS, STALE)


def test_where_the_engine_fails_the_others_go_on(
    course: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = course("ada", "bo")
    judge = plugin._WARM.judge

    def fails_once(*args: object, **more: object) -> object:
        monkeypatch.setattr(plugin._WARM, "judge", judge)
        raise EngineError("no memory is left")

    monkeypatch.setattr(plugin._WARM, "judge", fails_once)
    with pytest.raises(NbGraderException):
        autograde(folder)
    assert marks(folder)["ada"] == dict.fromkeys(IDS, STALE), "her marks stay"
    assert not (folder / "autograded" / "ada" / LESSON).exists()
    assert marks(folder)["bo"] == wanted("bo")


def missing(folder: Path) -> None:
    (folder / "solutions" / LESSON / f"{NAME}.ipynb").unlink()


def changed(folder: Path) -> None:
    edit_master(folder, lambda cell: cell.update(source=["# mended\n", *cell["source"]]))


def more_points(folder: Path) -> None:
    edit_master(folder, lambda cell: cell["metadata"]["nbgrader"].update(points=40))


def renamed(folder: Path) -> None:
    edit_master(folder, lambda cell: cell["metadata"]["nbgrader"].update(grade_id="hook2"))


def edit_master(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "solutions" / LESSON / f"{NAME}.ipynb"
    content = json.loads(path.read_text())
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "hook":
            change(cell)
    path.write_text(json.dumps(content))


def other_language(folder: Path) -> None:
    path = folder / "solutions" / LESSON / f"{NAME}.ipynb"
    content = json.loads(path.read_text())
    content["metadata"] = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (missing, "the master is not there"),
        (changed, "cell 'hook' is not as the gradebook has it. Run `nbgrader generate_assignment"),
        (more_points, "cell 'hook' is not as the gradebook has it"),
        (renamed, "cell 'hook2' is not as the gradebook has it"),
        (other_language, "its language is R"),
    ],
)
def test_without_the_master_it_was_made_from_nothing_is_graded(
    course: Callable[..., Path], harm: Callable[[Path], None], says: str
) -> None:
    folder = course("ada")
    harm(folder)
    result = pages(folder).autograde(LESSON, "ada")
    assert not result["success"]
    assert f"ada, {LESSON}/{NAME}: not graded: " in result["log"]
    assert says in result["log"]
    assert marks(folder)["ada"] == dict.fromkeys(IDS, STALE)
    assert not (folder / "autograded" / "ada" / LESSON).exists()


def test_the_example_class_has_the_steps_too() -> None:
    config = Settings.of(ROOT / "examples" / "class").config
    assert config.Autograde.sanitize_preprocessors == ["autograder.desk.plugin.Rebuild"]
    assert config.Autograde.autograde_preprocessors[0] == "autograder.desk.plugin.Run"
    assert "preprocessors" not in config.Validator, "learners validate with nbgrader's own"
