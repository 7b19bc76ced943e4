"""The one call of a check cell: is this value the expected one, and if not, which mistake is it?"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType

from IPython.display import display

from autograder import marking

from . import missing, session, where
from .box import Box

# The kernel starts in the notebook's folder, where the lesson's sentences lie beside it. Where
# only the notebook was copied, those of the course that this package stands in do as well.
_HERE = Path.cwd() / "mistakes.toml"
_COURSE = Path(__file__).resolve().parents[2] / "notebooks"


class CheckFailed(AssertionError):
    """A value is not the expected one.

    Its text is the whole story in one line. In a notebook that a person runs, the box above has
    said all that, so it is shown as a few words; nbgrader shows nothing but the error, and gets
    the sentence.

    Attributes:
        mistake: the name of the mistake.
        message: what was checked, what was seen and what it means, in one line.
    """

    def __init__(self, outcome: marking.Outcome) -> None:
        super().__init__(outcome.line)
        self.mistake = outcome.mistake
        self.message = outcome.line

    def _render_traceback_(self) -> list[str]:
        # IPython shows exactly these lines. Never empty: nbgrader would show nothing at all.
        if "NBGRADER_EXECUTION" in os.environ:  # set by nbgrader, and by the engine
            return [self.message]
        if self.mistake == "todo":
            return ["Still a TODO. The box above says what to do."]
        return ["Not yet. The box above says what was seen."]


def expect(
    actual: object,
    expected: object,
    what: str,
    *,
    mistakes: Mapping[str, object] | None = None,
    accepted: Mapping[str, object] | None = None,
) -> None:
    """Check that ``actual`` is ``expected``; say what went wrong where it is not.

    Args:
        actual: the value to check, or a function without arguments that returns it. What such a
            function raises becomes a sentence.
        expected: the right value (tensors by shape, kind of dtype and within a tolerance; lists,
            tuples, dicts, numbers, text, None), or ``one_of``, ``at_most``, ``at_least``.
        what: what is checked, in the learner's words.
        mistakes: known wrong values by the name of the mistake; the first that fits is told.
        accepted: other values that pass, with a note.

    Raises:
        CheckFailed: after a box with the same words was displayed.
    """
    caller = sys._getframe(1)
    # Before the learner's code runs, which may edit a tensor that these hold.
    expectation = marking.Expectation(
        what,
        marking.freeze(expected),
        {name: marking.freeze(value) for name, value in (mistakes or {}).items()},
        {name: marking.freeze(value) for name, value in (accepted or {}).items()},
    )
    lines: list[str] = []
    outcome = (
        _shadowed(caller.f_globals, caller.f_code)
        or _not_made_anew(caller)
        or _judged(actual, caller, lines, expectation)
    )
    if outcome.passed:
        print(outcome.line)
        return
    # What a program reads of it; a person reads the box.
    facts = {"mistake": outcome.mistake, "hint": outcome.hint}
    where_to_look = "" if outcome.mistake == "todo" else "".join(lines)
    display(Box(outcome, where_to_look), metadata={"autograder": facts})
    raise CheckFailed(outcome)


def _judged(
    actual: object, caller: FrameType, lines: list[str], expectation: marking.Expectation
) -> marking.Outcome:
    errors: list[BaseException] = []
    try:
        value = marking.observe(_watched(actual, caller, lines, errors))
    except KeyboardInterrupt as error:
        _say_stopped(error)
        raise
    outcome = marking.judge(value, expectation, _words())
    # Another cell makes that name: said as where a cell of the learner's own stops with it.
    says = "".join(map(missing.says, errors)) if outcome.mistake == "missing_name" else ""
    return replace(outcome, mistake=missing.MISTAKE, says=says) if says else outcome


def _say_stopped(error: KeyboardInterrupt) -> None:
    """The learner pressed ■: a box says what that may mean, in place of a long traceback."""
    sentence = marking.shared()["interrupted"]
    outcome = marking.Outcome(False, "", "", "interrupted", sentence.says, sentence.hint)
    display(Box(outcome, ""))
    line = "KeyboardInterrupt: stopped. The box above says what to look for."
    vars(error)["_render_traceback_"] = lambda: [line]


def _watched(
    actual: object, caller: FrameType, lines: list[str], errors: list[BaseException]
) -> object:
    """The same function, which also notes an exception, and the learner's line it came through."""
    if type(actual) is not FunctionType:
        return actual

    def watched() -> object:
        try:
            return actual()
        except BaseException as error:
            errors.append(error)
            lines.append(where.line_of(error, caller.f_globals, caller.f_code))
            raise

    return watched


def _words() -> marking.Words:
    words = dict(marking.shared())
    for path in [_HERE] if _HERE.is_file() else sorted(_COURSE.glob("*/mistakes.toml")):
        with contextlib.suppress(OSError):
            now = path.stat()
            words |= _table(path, now.st_mtime_ns, now.st_size)
    return words


@functools.lru_cache(maxsize=32)
def _table(path: Path, changed: int, size: int) -> marking.Words:
    """A lesson's sentences. Reading them takes longer than all the rest of a check."""
    try:
        return marking.for_lesson(path)
    except marking.WordsError:  # a learner's copy may be damaged; a check still has to speak
        return {}


def _not_made_anew(caller: FrameType) -> marking.Outcome | None:
    """The learner's cell did not make the function: an older one is not judged."""
    found = session.not_made(marking.global_reads(caller.f_globals, caller.f_code))
    if found is None:
        return None
    name, error = found
    if error is None or (type(error) is NameError and error.name == name):
        return marking.answer_renamed(name, _words())
    return marking.answer_stopped(marking.raised(error), _words())


def _shadowed(names: Mapping[str, object], code: CodeType) -> marking.Outcome | None:
    """A learner's `list = [...]` breaks a check in ways nobody would understand."""
    name = marking.shadowed_builtin(names, code)
    if name is None:
        return None
    says = marking.shared()["rebound"].filled({"name": name})
    return marking.Outcome(False, "", "", "rebound", says)
