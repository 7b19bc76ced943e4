"""Cells of the master, compiled once in the server: they are the same for every submission."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType

from autograder import marking

MASTERS = ("given", "check")
"""Roles of cells whose source is the master's, not the learner's."""


@dataclass(frozen=True)
class Prepared:
    """A compiled cell: its body, its last expression (shown as a notebook does), and its names.

    ``reads`` are the global names that it reads and does not bind itself.
    """

    body: CodeType
    last: CodeType | None
    reads: tuple[str, ...]


@functools.lru_cache(maxsize=1024)
def prepared(cell: str, source: str) -> Prepared | None:
    """Compile a cell; None where it is no plain Python (magics, await), which IPython runs."""
    name = f"<{cell}>"
    try:
        tree = ast.parse(source)
        end = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = compile(tree, name, "exec")
        last = compile(ast.Interactive([end]), name, "single") if end is not None else None
        read, bound = marking.global_names(compile(source, name, "exec"))
    except (SyntaxError, ValueError):
        return None
    # So that a traceback, and inspect.getsource, know the lines.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return Prepared(body, last, tuple(sorted(read - bound)))


def prepare(cells: Iterable[Mapping[str, str]]) -> None:
    """Compile cells of the master, so that the children find it done."""
    for cell in cells:
        prepared(cell["id"], cell["source"])
