"""One submission through the house: course, engine, marking."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder import marking
from autograder.course import Cell, Exercise, Master, Plan, rebuild, reference_plan
from autograder.engine import Files, Tier, Worker
from autograder.marking import CellRun, Expectation, Observations, Verdict, Words

# Python up to 3.12 counts the depth of a syntax tree once for all threads, so that two that parse
# at a time can end in "SystemError: AST constructor recursion depth mismatch" (seen, 3.11.7).
_PARSING = threading.Lock()


@dataclass(frozen=True)
class Judged:
    """What became of one notebook: a verdict for each exercise, and how it came about.

    Attributes:
        tier: how well it was confined while it ran.
    """

    verdicts: tuple[Verdict, ...]
    plan: Plan
    observations: Observations
    tier: Tier

    @property
    def score(self) -> float:
        """The points of all exercises."""
        return sum(verdict.points for verdict in self.verdicts)


@dataclass(frozen=True)
class Reference:
    """What the master gives with one secret: expected values by check cell, and the sentences.

    Attributes:
        files: what lies beside the notebooks of all submissions, or the folder with it.
    """

    master: Master
    secret: str
    expectations: dict[str, tuple[Expectation, ...]]
    words: Words
    files: Path | Files | None = None


def new_secret() -> str:
    """A secret that no submission knows; all inputs of the checks are drawn from it."""
    return secrets.token_hex(16)


def run_reference(
    worker: Worker,
    master: Master,
    secret: str | None = None,
    files: Path | Files | None = None,
    words: Words | None = None,
) -> Reference:
    """Run a master once, where no student code has ever run.

    Args:
        files: what its cells read or import, or the folder with it; submissions get it too.
        words: the lesson's sentences, where its table is not on this machine.

    Raises:
        EngineError: the master stops with an error.
    """
    secret = secret or new_secret()
    expectations = worker.reference(reference_plan(master), secret, files=files)
    if words is None:
        words = marking.for_lesson(master.sentences)
    return Reference(master, secret, expectations, words, files)


def make_plan(master: Master, cells: Sequence[Cell]) -> Plan:
    """As :func:`autograder.course.rebuild`, for use in several threads at once.

    Raises:
        CourseError: a check cell of the master is no plain Python.
    """
    with _PARSING:
        return rebuild(master, cells)


def judge(
    worker: Worker,
    master: Master,
    submission: Sequence[Cell] | Plan,
    reference: Reference,
    files: Path | Files | None = None,
) -> Judged:
    """Run and judge one submission, given by its cells or by a plan already made.

    Args:
        files: what its cells read or import, or the folder with it, where it isn't what the
            master reads.

    Raises:
        WorkerLost: the worker broke.
    """
    beside = reference.files if files is None else files
    plan = submission if isinstance(submission, Plan) else make_plan(master, submission)
    worker.wait_ready()
    # For all runs of it together.
    deadline = time.monotonic() + worker.limits.notebook_seconds

    def run(cells: Plan, *, mended: bool = False) -> Observations:
        return worker.run(cells, reference.secret, mended=mended, files=beside, deadline=deadline)

    observations = run(plan)
    verdicts = [_decide(exercise, observations, reference) for exercise in master.exercises]
    lost = [i for i, verdict in enumerate(verdicts) if _may_be_anothers_fault(verdict)]
    if len(lost) > 1 or (lost and observations.trouble):
        notes = list(observations.trouble)
        for i in lost:
            exercise = master.exercises[i]
            alone = run(_alone(plan, exercise))
            verdict = _decide(exercise, alone, reference)
            if verdict.verdict == "passed":
                verdicts[i] = verdict
                notes.append(f"exercise {exercise.id!r} was judged without the other answers")
        observations = replace(observations, trouble=tuple(notes))
    for i, exercise in enumerate(master.exercises):
        check = observations.cells.get(exercise.id)
        if verdicts[i].verdict == "passed" and check is not None and check.edited:
            # Add and the like may have been made to do the hook's work.
            mended = run(_alone(plan, exercise), mended=True)
            verdicts[i] = _decide(exercise, mended, reference)
    return Judged(tuple(verdicts), plan, observations, worker.tier)


def judge_by(worker: Worker, reference: Reference, submission: Sequence[Cell] | Plan) -> Judged:
    """As :func:`judge`, with the master that the reference comes from.

    Values that were compared stay behind: what goes back, maybe over a network, is what people see.
    """
    judged = judge(worker, reference.master, submission, reference)
    cells = {name: replace(run, values=()) for name, run in judged.observations.cells.items()}
    return replace(judged, observations=replace(judged.observations, cells=cells))


def _may_be_anothers_fault(verdict: Verdict) -> bool:
    """Whether a right answer may have lost to what another answer did to the process."""
    return verdict.verdict not in ("passed", "timed out") and verdict.mistake != "todo"


def _alone(plan: Plan, exercise: Exercise) -> Plan:
    """The plan with one exercise only: given cells, the learner's own, its answer and check."""
    mine = {exercise.id, exercise.answer.grade_id if exercise.answer else ""}
    cells = (c for c in plan.cells if c.role in ("given", "own") or c.id in mine)
    return replace(plan, cells=tuple(cells))


def _decide(exercise: Exercise, observations: Observations, reference: Reference) -> Verdict:
    def decide(run: CellRun | None) -> Verdict:
        expected = reference.expectations[exercise.id]
        return marking.decide(exercise.id, exercise.points, run, expected, reference.words)

    answer = observations.cells.get(exercise.answer.grade_id) if exercise.answer else None
    verdict = decide(observations.cells.get(exercise.id))
    return after_answer(verdict, answer, decide, reference.words)


def after_answer(
    verdict: Verdict,
    answer: CellRun | None,
    decide: Callable[[CellRun | None], Verdict],
    words: Words,
) -> Verdict:
    """The verdict on a check that may be lost because of how the cell with its answer ended."""
    if verdict.verdict != "passed" and answer and answer.ended in ("timed out", "crashed"):
        # The check ran without that cell: what it misses is not what went wrong.
        return decide(CellRun(verdict.exercise, answer.ended))
    missing = f"name '{verdict.exercise}' is not defined"
    if verdict.mistake == "missing_name" and missing in verdict.message and answer and answer.error:
        # The cell that makes it stopped before, or makes one of another name.
        renamed = missing in answer.error.message
        outcome = (
            marking.answer_renamed(verdict.exercise, words)
            if renamed
            else marking.answer_stopped(answer.error, words)
        )
        return replace(verdict, mistake=outcome.mistake, message=outcome.line)
    return verdict
