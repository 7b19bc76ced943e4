"""Short tracebacks in a notebook: the learner's own lines, and what went wrong.

An error in a hook comes up through dozens of lines of PyTorch's own code, and an endless recursion
through thousands. Neither helps anybody who learns to write hooks.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from IPython.core.getipython import get_ipython

from . import missing

_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).resolve().parents[1]),  # this package, in a clone
)
_MOST = 4  # calls that are shown


def install() -> None:
    """Shorten the tracebacks of this notebook from now on; outside of one, do nothing."""
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((Exception, KeyboardInterrupt), _show)


def _show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    missing.explain(error)
    # A cell that can't be compiled has run no line, and IPython shows it in another way.
    ran = any(map(_is_own, _calls(traceback)))
    left_out = 0
    for one in _chain(error):
        one.__traceback__, left = shorten(one.__traceback__)
        left_out += left
    if left_out and not hasattr(error, "_render_traceback_"):
        error.add_note(f"({left_out} calls in between, most of them in libraries, are left out.)")
    shell.showtraceback((kind, error, error.__traceback__), tb_offset=0, running_compiled_code=ran)


def shorten(traceback: TracebackType | None) -> tuple[TracebackType | None, int]:
    """A traceback without the calls inside libraries, and with the outermost and last ones only.

    Returns:
        The traceback, as it was where all of it is inside libraries; how many calls below the
        first one outside of libraries are left out.
    """
    calls = list(_calls(traceback))
    own = list(filter(_is_own, calls))
    if not own:
        return traceback, 0
    kept = own if len(own) <= _MOST else [*own[: _MOST // 2], *own[-_MOST // 2 :]]
    short = None
    for call in reversed(kept):
        short = TracebackType(short, call.tb_frame, call.tb_lasti, call.tb_lineno)
    return short, len(calls) - calls.index(own[0]) - len(kept)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and those that led to it, which are shown above it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _calls(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_own(call: TracebackType) -> bool:
    return not call.tb_frame.f_code.co_filename.startswith(_LIBRARIES)
