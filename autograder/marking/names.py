"""Which names a piece of code stands on, and whether one of them was bound to something else."""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType


def shadowed_builtin(names: Mapping[str, object], code: CodeType) -> str | None:
    """The first Python builtin that ``code`` reads and that ``names`` binds to something else."""
    return rebound_builtin(names, sorted(global_reads(names, code)))


def global_reads(names: Mapping[str, object], code: CodeType) -> frozenset[str]:
    """The global names that ``code`` reads and does not bind itself.

    Args:
        names: the globals that the code runs in.
        code: a cell, or one statement of it; functions of the same file are followed.
    """
    todo, seen = [code], {code}
    found: set[str] = set()
    while todo:
        read, bound = global_names(todo.pop())
        found |= read - bound
        for value in map(names.get, read - bound):
            # IPython runs a cell statement by statement: the functions of this one are elsewhere.
            inner = value.__code__ if type(value) is FunctionType else code
            if inner.co_filename == code.co_filename and inner not in seen:
                seen.add(inner)
                todo.append(inner)
    return frozenset(found)


def rebound_builtin(names: Mapping[str, object], reads: Iterable[str]) -> str | None:
    """The first of ``reads`` that is a Python builtin and that ``names`` binds otherwise."""
    for name in reads:
        value = names.get(name)
        own = getattr(builtins, name, value)
        if name in names and value is not own and not _may_differ(name):
            return name
    return None


def _may_differ(name: str) -> bool:
    # IPython puts its own into every notebook.
    return name in ("open", "exit", "quit", "display", "input") or name.startswith("__")


@functools.lru_cache(maxsize=256)
def global_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that code and the functions in it read, and those that it binds."""
    steps = list(_steps(code))
    read = (name for step, name in steps if step.startswith(("LOAD_NAME", "LOAD_GLOBAL")))
    bound = (name for step, name in steps if step.startswith(("STORE_NAME", "STORE_GLOBAL")))
    return frozenset(read), frozenset(bound)


def _steps(code: CodeType) -> Iterator[tuple[str, str]]:
    for step in dis.get_instructions(code):
        if isinstance(step.argval, CodeType):
            yield from _steps(step.argval)
        elif isinstance(step.argval, str):
            yield step.opname, step.argval
