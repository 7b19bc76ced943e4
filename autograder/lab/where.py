"""Which line of the learner's code an exception came through."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from types import CodeType, FunctionType

from autograder.marking import cut, global_reads, one_line

_LONGEST = 100


def line_of(error: BaseException, names: Mapping[str, object], check: CodeType) -> str:
    """The innermost line of a function that the check uses and that another cell defines.

    Args:
        error: what came out of that function, or out of what it called.
        names: the notebook's names.
        check: the check cell, or one statement of it.

    Returns:
        "`answer.append(input[2])`, line 3 of the cell with `pre_hook`"; '' where there is none.
    """
    cells: dict[str, str] = {}
    for name in sorted(global_reads(names, check)):
        value = names.get(name)
        # Not what was imported: that is nobody's to mend.
        if type(value) is FunctionType and value.__globals__ is names:
            cells.setdefault(value.__code__.co_filename, name)
    cells.pop(check.co_filename, None)
    found = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        text = linecache.getline(file, trace.tb_lineno).strip() if file in cells else ""
        if text:
            line = cut(one_line(text), _LONGEST).replace("`", "'")
            found = f"`{line}`, line {trace.tb_lineno} of the cell with `{cells[file]}`"
        trace = trace.tb_next
    return found
