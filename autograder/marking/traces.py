"""What an exception's own text does not say."""

from __future__ import annotations

import inspect
from types import CoroutineType


def handed_on_coroutine(error: BaseException) -> bool:
    """Whether an async function's coroutine stands among the values on the way to the exception.

    A pre-hook that was written with ``async def`` ends this way: its coroutine takes the place
    of the inputs, and what is raised then speaks of missing arguments.
    """
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        # Of a function: its names stand in a plain dict, not in an object of a learner's.
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and any(
            type(part) is CoroutineType
            for value in list(frame.f_locals.values())
            for part in (value if type(value) is tuple else (value,))
        ):
            return True
        trace = trace.tb_next
    return False
