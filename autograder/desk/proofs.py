"""What a master must show when it is run, before it may be released."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from autograder import marking
from autograder.course import Master, check_master, reference_plan
from autograder.engine import EngineError, Worker
from autograder.marking import Expectation

from . import judging

SENTENCES = "mistakes.toml"


def findings(master: Master, worker: Worker) -> list[str]:
    """All that is wrong with a master, by its text and by running it; empty where nothing is."""
    found = check_master(master)
    if found:
        return found  # a cell that breaks the rules can't be run by them
    try:
        return list(dict.fromkeys(_by_running(master, worker)))
    except EngineError as error:
        return [str(error)]
    except marking.WordsError as error:
        return [str(error)]


def _by_running(master: Master, worker: Worker) -> Iterator[str]:
    reference = judging.run_reference(worker, master)
    other = judging.run_reference(worker, master)
    for exercise in master.exercises:
        expectations = reference.expectations[exercise.id]
        yield from _expectations(exercise.id, expectations, reference.words)
        if not _differ(expectations, other.expectations[exercise.id]):
            yield (
                f"exercise {exercise.id!r}: no expected value changes with the inputs, so it "
                "could be guessed; check a value that is drawn"
            )
    yield from _sentences(master, reference)
    yield from _runs(master, worker, reference)


def _runs(master: Master, worker: Worker, reference: judging.Reference) -> Iterator[str]:
    """The solution earns everything, the release nothing, each exercise its points alone."""
    solved = judging.judge(worker, master, reference_plan(master, stripped=True), reference)
    for verdict in solved.verdicts:
        if verdict.verdict != "passed":
            yield (
                f"exercise {verdict.exercise!r}: the solution does not pass its own check when "
                f"only the first argument of each expect is there: {verdict.message}"
            )
    released = reference_plan(master, stripped=True, solved=False)
    for verdict in judging.judge(worker, master, released, reference).verdicts:
        if verdict.points:
            yield f"exercise {verdict.exercise!r}: earns {verdict.points:g} points unsolved"
        elif verdict.mistake != "todo":
            yield (
                f"exercise {verdict.exercise!r}: unsolved, it is told {verdict.mistake!r} instead "
                "of 'todo'; call the learner's function within expect(lambda: ...)"
            )


def _expectations(
    exercise: str, expectations: tuple[Expectation, ...], words: marking.Words
) -> Iterator[str]:
    for call in expectations:
        where = f"exercise {exercise!r}, {call.what!r}"
        tables = {"mistake": call.mistakes, "accepted value": call.accepted}
        for kind, table in tables.items():
            for name, value in table.items():
                if name not in words:
                    yield f"{kind} {name!r} has no sentence; add it to {SENTENCES}"
                if marking.same(value, call.expected):
                    yield f"{where}: {kind} {name!r} is the right value"
        if not marking.is_plain(call.expected):
            yield (
                f"{where}: {marking.show(call.expected)} can't be compared; use exact types, "
                "for a shape tuple(x.shape)"
            )


def _differ(one: tuple[Expectation, ...], two: tuple[Expectation, ...]) -> bool:
    return any(not marking.same(a.expected, b.expected) for a, b in zip(one, two, strict=True))


def _sentences(master: Master, reference: judging.Reference) -> Iterator[str]:
    """Sentences that no check uses."""
    if not master.sentences.is_file():
        return
    table: Mapping[str, Any] = tomllib.loads(master.sentences.read_text("utf-8"))
    used = {
        name
        for calls in reference.expectations.values()
        for call in calls
        for name in (*call.mistakes, *call.accepted)
    } | set(marking.shared())
    for name in sorted(set(table) - used):
        yield f"{master.sentences.name}: [{name}] is used by no check"
