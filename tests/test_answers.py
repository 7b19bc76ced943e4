"""Every sample answer and every mutant of lesson 1, judged twice: by ``expect``, as in a notebook,
and by the engine, from values that come out of another process. Both must say the same.

An answer is a whole answer cell; where it has no "Try it" lines, the lesson's own follow. A wrong
one says in its first line which mistake it must be told, a right one which note, if any:

    # mistake: NAME
    # accepted: NAME
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from mutants import LESSON, ROOT, mutants

from autograder import marking
from autograder.course import Course, Exercise, MasterCell, Plan, PlanCell, reference_plan, strip
from autograder.desk import judging
from autograder.engine import Worker
from autograder.lab import CheckFailed
from autograder.marking import Verdict

ANSWERS = ROOT / "tests" / "answers" / LESSON
MASTER = Course(ROOT).master(LESSON)
EXERCISES = {exercise.id: exercise for exercise in MASTER.exercises}
TRY_IT = "# Try it"
SECRET = judging.new_secret()  # other inputs in every run of the tests

Told = tuple[str, str | None]  # the verdict, and the mistake or note


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


@pytest.fixture(scope="module")
def reference(worker: Worker) -> judging.Reference:
    return judging.run_reference(worker, MASTER)


def _defines(cell: MasterCell) -> bool:
    kinds = (ast.ClassDef, ast.Import, ast.ImportFrom)
    return any(isinstance(node, kinds) for node in ast.parse(cell.source).body)


# The set-up and the classes. The demonstrations between the exercises take time and change nothing.
GIVEN = [
    cell
    for cell in MASTER.cells
    if cell.kind == "given" and _defines(cell) and cell.grade_id != "given_check"  # check() itself
]


def answer_cell(exercise: Exercise, source: str) -> str:
    assert exercise.answer is not None
    if TRY_IT in source:
        return source
    return source + "\n\n" + TRY_IT + exercise.answer.source.partition(TRY_IT)[2]


@functools.cache
def compiled(source: str) -> CodeType:
    return compile(source, "<cell>", "exec")


def by_expect(exercise: Exercise, cell: str, check: str | None = None) -> Told:
    """What a notebook says: cells in one namespace, the check with its expected values.

    Args:
        check: the source of the check cell, where it isn't the whole one.
    """
    space: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("ignore")
        for given in GIVEN:
            exec(compiled(given.source), space)
        with contextlib.suppress(Exception):  # shown to the learner; the check says its own
            exec(cell, space)
        try:
            exec(compiled(check or exercise.check.source), space)
        except CheckFailed as failed:
            return "failed", failed.mistake
    notes = [name for name, note in NOTES.items() if note in printed.getvalue()]
    return "passed", notes[0] if notes else None


def by_engine(
    exercise: Exercise, cells: list[str], worker: Worker, secret: str, together: int = 1
) -> list[Verdict]:
    """What the grader says: checks without their expected values, in a process of their own.

    Args:
        cells: answer cells.
        together: how many of them share a process, one after the other, each with new classes.
    """
    assert exercise.answer is not None
    solved = _plan(exercise, [exercise.answer.source] * together, exercise.check.source)
    expectations = worker.reference(solved, secret)
    verdicts = []
    for start in range(0, len(cells), together):
        some = cells[start : start + together]
        seen = worker.run(_plan(exercise, some, strip(exercise.check.source)), secret)
        for number in range(len(some)):
            check = f"{exercise.id} {number}"
            run, wanted = seen.cells[check], expectations[check]
            verdicts.append(marking.decide(exercise.id, exercise.points, run, wanted, WORDS))
    return verdicts


def _plan(exercise: Exercise, answers: list[str], check: str) -> Plan:
    made = (exercise.id, "add", "model", "x1", "x2", "output")
    forget = f"for name in {made}: globals().pop(name, None)"
    cells = []
    for number, answer in enumerate(answers):
        cells.append(PlanCell(f"forget {number}", "own", forget))
        for given in GIVEN:
            cells.append(PlanCell(f"{given.grade_id} {number}", "given", given.source))
        cells.append(PlanCell(f"answer {number}", "answer", answer))
        cells.append(PlanCell(f"{exercise.id} {number}", "check", check))
    return Plan(LESSON, tuple(cells))


def both(
    exercise: Exercise, cells: list[str], worker: Worker, secret: str, together: int
) -> list[tuple[Told, Told]]:
    verdicts = by_engine(exercise, cells, worker, secret, together)
    for verdict in verdicts:
        assert verdict.points == (exercise.points if verdict.verdict == "passed" else 0)
    engine = [(verdict.verdict, verdict.mistake) for verdict in verdicts]
    return list(zip((by_expect(exercise, cell) for cell in cells), engine, strict=True))


WORDS = marking.for_lesson(MASTER.sentences)
NOTES = {name: WORDS[name].says for name in ("recomputed", "in_place")}


@pytest.fixture(autouse=True)
def _lesson_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """``expect`` finds the lesson's sentences beside the notebook; here there is none."""
    module = sys.modules["autograder.lab.expect"]
    monkeypatch.setattr(module.marking, "for_lesson", lambda path: WORDS)


def bank(exercise: str, kind: str) -> list[Path]:
    return sorted((ANSWERS / exercise / kind).glob("*.py"))


def said_by(path: Path) -> Told:
    """What the first line of an answer file asks for."""
    kind, _, name = path.read_text("utf-8").partition("\n")[0].partition(": ")
    if path.parent.name == "wrong":
        assert kind == "# mistake", path
        return "failed", name
    return "passed", name if kind == "# accepted" else None


@pytest.mark.parametrize("name", EXERCISES)
def test_answers(name: str, worker: Worker) -> None:
    exercise = EXERCISES[name]
    assert len(bank(name, "right")) >= 5
    assert len(bank(name, "wrong")) >= 9
    paths = bank(name, "right") + bank(name, "wrong")
    cells = [answer_cell(exercise, path.read_text("utf-8")) for path in paths]
    off = []
    for path, told in zip(paths, both(exercise, cells, worker, SECRET, 1), strict=True):
        wanted, (notebook, engine) = said_by(path), told
        if not wanted == notebook == engine:
            off.append(f"{path.parent.name}/{path.name}: {wanted=} {notebook=} {engine=}")
    assert not off, "\n".join(off)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_visible_part_of_a_check_says_the_same_as_the_grader(name: str) -> None:
    exercise = EXERCISES[name]
    off = []
    for path in bank(name, "wrong"):
        cell = answer_cell(exercise, path.read_text("utf-8"))
        told = by_expect(exercise, cell, exercise.check.release)
        if told[0] == "failed" and told != said_by(path):
            off.append(f"{path.name}: {told[1]}")
    assert not off, "\n".join(off)
    for path in bank(name, "right"):
        cell = answer_cell(exercise, path.read_text("utf-8"))
        assert by_expect(exercise, cell, exercise.check.release)[0] == "passed", path


@pytest.mark.parametrize("name", EXERCISES)
def test_a_check_takes_no_name_from_the_notebook(name: str) -> None:
    """What a learner finds after a check is what stood there before."""
    exercise = EXERCISES[name]
    assert exercise.answer is not None
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in (*(given.source for given in GIVEN), exercise.answer.source):
            exec(compiled(source), space)
        before = dict(space)
        exec(compiled(exercise.check.source), space)
    changed = {key for key, value in space.items() if before.get(key, space) is not value}
    assert {key for key in changed if not key.startswith("_")} == set()


@pytest.mark.parametrize("name", EXERCISES)
def test_mutants(name: str, worker: Worker) -> None:
    exercise = EXERCISES[name]
    made = mutants(exercise)
    assert len({mutant.source for mutant in made}) >= 15
    equivalent = tomllib.loads((ANSWERS / "survivors.toml").read_text("utf-8"))[name]
    off, alive = [], set()
    told = both(exercise, [mutant.source for mutant in made], worker, SECRET, 20)
    for mutant, (notebook, engine) in zip(made, told, strict=True):
        if notebook != engine:
            off.append(f"{mutant.name}: {notebook=} {engine=}")
        if engine[0] == "passed":
            alive.add(mutant.name)
    assert not off, "\n".join(off)
    assert alive == set(equivalent), "survivors and their list differ"
    assert all(reason.strip() for reason in equivalent.values())


def test_every_mistake_of_the_lesson_is_made_by_some_answer() -> None:
    """A sentence that no answer is ever told may be wrong without anybody knowing."""
    table = tomllib.loads(MASTER.sentences.read_text("utf-8"))
    told = {said_by(path)[1] for path in ANSWERS.glob("*/*/*.py")}
    assert set(table) - told == set()
    assert told - {None} <= set(WORDS)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_earns_its_points_alone(
    name: str, worker: Worker, reference: judging.Reference
) -> None:
    """All others unsolved: they are told so, and this one gets its own points, no more, no less."""
    solved = reference_plan(MASTER, stripped=True)
    unsolved = reference_plan(MASTER, stripped=True, solved=False)
    cells = tuple(
        full if full.id == f"{name}_answer" else empty
        for full, empty in zip(solved.cells, unsolved.cells, strict=True)
    )
    judged = judging.judge(worker, MASTER, Plan(LESSON, cells), reference)
    assert {verdict.exercise: verdict.points for verdict in judged.verdicts} == {
        other: exercise.points if other == name else 0 for other, exercise in EXERCISES.items()
    }
    assert {v.mistake for v in judged.verdicts if v.exercise != name} == {"todo"}


def test_the_exercises_pass_in_reverse_order(worker: Worker, reference: judging.Reference) -> None:
    plan = reference_plan(MASTER, stripped=True)
    cells = {cell.id: cell for cell in plan.cells}
    backwards = [
        cell
        for exercise in reversed(MASTER.exercises)
        for cell in (cells[f"{exercise.id}_answer"], cells[exercise.id])
    ]
    given = [cell for cell in plan.cells if cell.id in {part.grade_id for part in GIVEN}]
    judged = judging.judge(worker, MASTER, Plan(LESSON, (*given, *backwards)), reference)
    assert [verdict.message for verdict in judged.verdicts if verdict.verdict != "passed"] == []
    assert judged.score == MASTER.max_score


@pytest.mark.parametrize("name", EXERCISES)
def test_an_unsolved_exercise_fails_in_the_notebook(name: str) -> None:
    exercise = EXERCISES[name]
    assert exercise.answer is not None
    assert by_expect(exercise, exercise.answer.release) == ("failed", "todo")
    assert by_expect(exercise, "") == ("failed", "missing_name")
    assert by_expect(exercise, exercise.answer.source) == ("passed", None)
