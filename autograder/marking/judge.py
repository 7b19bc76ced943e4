"""From an observed value, or a whole observed check, to a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .compare import same
from .diagnose import difference
from .exceptions import explain
from .show import cut, one_line, show
from .values import OneOf, Other, Raised
from .words import Sentence, Words

LONGEST_LINE = 1_000


@dataclass(frozen=True)
class Expectation:
    """One call of ``expect`` as the reference made it, all values frozen.

    ``mistakes`` and ``accepted`` keep their order: the first that fits names the value.
    """

    what: str
    expected: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    accepted: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of one value. ``mistake`` names an accepted variant too, where passed.

    ``seen`` is a sentence of its own ("Seen: [1, 2]."), or empty where it would say nothing.
    """

    passed: bool
    what: str
    seen: str = ""
    mistake: str | None = None
    says: str = ""
    hint: int | None = None

    @property
    def line(self) -> str:
        """The whole story in one line, as it stands in a notebook's error output."""
        if self.passed:
            line = f"✓ {self.what}" + (f" ({self.says})" if self.says else "")
        else:
            story = " ".join(filter(None, (self.seen, self.says)))
            line = ": ".join(filter(None, (self.what, story)))
        return cut(one_line(line), LONGEST_LINE)


def judge(actual: Any, expectation: Expectation, words: Words) -> Outcome:
    """Compare one frozen value with what was expected of it."""
    if same(actual, expectation.expected):
        return Outcome(True, expectation.what)
    seen = f"{'Stopped with' if isinstance(actual, Raised) else 'Seen:'} {show(actual)}."
    worked_out, params = difference(actual, expectation.expected)
    for name, value in expectation.accepted.items():
        if same(actual, value):
            says = _sentence(words, name).filled(params)
            return Outcome(True, expectation.what, seen, name, says)
    named = (name for name, value in expectation.mistakes.items() if same(actual, value))
    name = next(named, worked_out)
    sentence = _sentence(words, name)
    if name == "todo":  # there is nothing to see yet, and no number to speak of
        return Outcome(False, "", "", name, sentence.filled(params), sentence.hint)
    return Outcome(False, expectation.what, seen, name, sentence.filled(params), sentence.hint)


def _sentence(words: Words, name: str) -> Sentence:
    return words.get(name) or words["different"]


# The type name of the "error" with which the engine reports a name that a check needs and that
# the learner's code has bound to something else; the message is the name.
REBOUND = "Rebound"

# How a cell ended, as the engine saw it.
Ending = Literal["ok", "error", "timed out", "crashed", "not run"]


@dataclass(frozen=True)
class CellRun:
    """One executed cell: how it ended, what it showed, what its ``expect`` calls handed over.

    ``outputs`` are nbformat outputs, ``values`` frozen claims in the order of the calls.
    ``edited``: when this check ran, a given class was not what the lesson gives.
    """

    cell: str
    ended: Ending
    outputs: tuple[Mapping[str, Any], ...] = ()
    values: tuple[Any, ...] = ()
    error: Raised | None = None
    edited: bool = False


@dataclass(frozen=True)
class Observations:
    """What the engine saw of one notebook, cell by cell. All of it is claims."""

    cells: Mapping[str, CellRun]
    trouble: tuple[str, ...] = ()


Kind = Literal["passed", "failed", "not run", "timed out", "crashed"]


@dataclass(frozen=True)
class Verdict:
    """The mark of one exercise, with its reason.

    ``checked`` says who decided: 'value' (compared outside the learner's process) or 'assert'
    (the learner's own process said so; plain assert cells of other courses).
    """

    exercise: str
    points: float
    max_points: float
    verdict: Kind
    mistake: str | None = None
    message: str = ""
    checked: Literal["value", "assert"] = "value"
    hint: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry that ``check --json`` and ``grade --json`` write."""
        return {
            "id": self.exercise,
            "points": self.points,
            "max_points": self.max_points,
            "verdict": self.verdict,
            "mistake": self.mistake,
            "message": self.message,
            "checked": self.checked,
        }


def decide(
    exercise: str,
    max_points: float,
    run: CellRun | None,
    reference: Sequence[Expectation],
    words: Words,
) -> Verdict:
    """The verdict on one check cell.

    Values are compared in the order in which they were handed over, and the first difference
    decides, whatever happened later. A check that was not seen to its end is not passed.
    """
    if not reference:
        return _decide_by_assert(exercise, max_points, run, words)

    def lost(kind: Kind, outcome: Outcome) -> Verdict:
        return Verdict(
            exercise, 0, max_points, kind, outcome.mistake, outcome.line, hint=outcome.hint
        )

    notes: list[Outcome] = []
    for value, expectation in zip(run.values if run else (), reference, strict=False):
        outcome = judge(value, expectation, words)
        if not outcome.passed:
            return lost("failed", outcome)
        if outcome.says:
            notes.append(outcome)
    if run is None or run.ended != "ok":
        kind, outcome = _stopped(run, words)
        return lost(kind, outcome)
    if len(run.values) != len(reference):
        return lost("failed", _plain(words, "unexpected_values"))
    note = notes[0] if notes else None
    return Verdict(
        exercise,
        max_points,
        max_points,
        "passed",
        note.mistake if note else None,
        note.line if note else "",
    )


def _plain(words: Words, name: str, seen: str = "") -> Outcome:
    sentence = words[name]
    seen = f"Stopped with {seen}." if seen else ""
    return Outcome(False, "", seen, name, sentence.says, sentence.hint)


# What Python could not read: none of the cell has run.
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")


def answer_stopped(error: Raised, words: Words) -> Outcome:
    """What to say of a check whose function the answer's cell did not get to make."""
    name = "answer_unreadable" if error.type_name in _UNREADABLE else "answer_stopped"
    return _plain(words, name, show(error))


def answer_renamed(function: str, words: Words) -> Outcome:
    """What to say of a check whose function the answer's cell does not make (any more)."""
    sentence = words["answer_renamed"]
    says = sentence.filled({"name": function})
    return Outcome(False, "", "", "answer_renamed", says, sentence.hint)


def _stopped(run: CellRun | None, words: Words) -> tuple[Kind, Outcome]:
    """Why a check has no end: in words, as far as that is known."""
    if run is None or run.ended == "not run":
        return "not run", _plain(words, "not_run")
    if run.ended == "timed out":
        return "timed out", _plain(words, "timed_out")
    if run.ended == "crashed":
        return "crashed", _plain(words, "crashed")
    if run.error is None:
        return "failed", _plain(words, "not_run")
    if run.error.type_name == REBOUND:
        says = words["rebound"].filled({"name": run.error.message})
        return "failed", Outcome(False, "", "", "rebound", says)
    return "failed", _plain(words, explain(run.error), show(run.error))


def _decide_by_assert(
    exercise: str, max_points: float, run: CellRun | None, words: Words
) -> Verdict:
    """Cells without ``expect``: marks where the cell ended without an exception.

    As in nbgrader, a number as the cell's last expression is partial credit; a number that
    can't be one, or a text, is not.
    """
    if run is not None and run.ended == "ok":
        points = _partial_credit(run, max_points)
        kind: Kind = "passed" if points == max_points else "failed"
        message = "" if kind == "passed" else words["partial"].says
        return Verdict(exercise, points, max_points, kind, None, message, "assert")
    kind, outcome = _stopped(run, words)
    if run is not None and run.error is not None and run.error.type_name == "AssertionError":
        message = one_line(run.error.message) or words["assertion"].says
        outcome = Outcome(False, "", "", "assertion", message)
    return Verdict(
        exercise, 0, max_points, kind, outcome.mistake, outcome.line, "assert", outcome.hint
    )


def _partial_credit(run: CellRun, max_points: float) -> float:
    last = run.outputs[-1] if run.outputs else {}
    if last.get("output_type") != "execute_result":
        return max_points
    try:
        points = float(last["data"]["text/plain"])
    except (KeyError, TypeError, ValueError):
        return max_points
    return points if 0 <= points <= max_points else 0


def is_plain(value: Any) -> bool:
    """Whether a frozen value holds nothing that can't be compared."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, OneOf):
        return all(map(is_plain, value.options))
    return not isinstance(value, Other)
