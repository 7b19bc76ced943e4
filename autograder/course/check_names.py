"""Which names a check cell may read, and which may stand in a learner's process."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence

from .strip import strip

_INNER = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def name_findings(source: str, exercise: str, given: Sequence[str]) -> list[str]:
    """What is wrong with the names of a check cell.

    Raises:
        SyntaxError: the source is no plain Python.
    """
    findings = []
    read, bound, imported = _globals(source)
    # `expect` has a rule of its own.
    for name in sorted((bound | imported) - {"expect"}):
        if not name.startswith("_"):
            findings.append(
                f"`{name}` would overwrite a learner's name: let names that a check makes start "
                "with _"
            )
    known = bound | {exercise, "answer", "expect"} | set(dir(builtins))
    for cell in given:
        known |= _provides(cell)
    strange = sorted(read - known)
    if strange:
        findings.append(
            f"its check cell reads {', '.join(strange)}: it may read only `{exercise}`, `answer`, "
            "the given classes and imports, and names it makes itself"
        )
    kept = strip(source)
    still_read, still_bound, _ = _globals(kept)
    bindings = list(_bindings(ast.parse(kept)))
    draws = {"Draw"} | {
        name for name, value in bindings if isinstance(value, ast.Call) and _is(value.func, "Draw")
    }
    for name in sorted((read - still_read) & still_bound):
        if not all(_is_fresh(value, draws) for known_as, value in bindings if known_as == name):
            findings.append(
                f"`{name}` is used only for expected values, and would stand in the learner's "
                "process: write it into the expect call, or make it a clone() or a draw"
            )
    return findings


def _globals(source: str) -> tuple[set[str], set[str], set[str]]:
    """The global names that a source reads, those that it binds, and those that it imports."""
    read: set[str] = set()
    bound: set[str] = set()
    imported: set[str] = set()
    tables = [symtable.symtable(source, "<check>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table.get_type() == "module" or symbol.is_global():
                if symbol.is_referenced():
                    read.add(symbol.get_name())
                if symbol.is_imported():
                    imported.add(symbol.get_name())
                elif symbol.is_assigned():
                    bound.add(symbol.get_name())
    return read, bound, imported


def _outer(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but not what is in functions, classes and comprehensions."""
    yield node
    if not isinstance(node, _INNER):
        for child in ast.iter_child_nodes(node):
            yield from _outer(child)


def _bindings(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    """Each global name that is bound, with the value where that is plain to see."""
    seen: set[ast.AST] = set()
    for node in _outer(tree):
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
        elif isinstance(node, ast.AnnAssign) and node.value:
            pairs = [*_pairs(node.target, node.value)]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in seen:
            pairs = [(node, None)]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, None
            continue
        else:
            continue
        seen.update(name for name, _ in pairs)
        yield from ((name.id, value) for name, value in pairs)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List):
        items: Sequence[ast.expr] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            items = value.elts
        for part, item in zip(target.elts, items, strict=True):
            yield from _pairs(part, item)
    elif isinstance(target, ast.Starred) and isinstance(target.value, ast.Name):
        yield target.value, value


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_fresh(value: ast.expr | None, draws: set[str]) -> bool:
    """A draw, or a clone of something that is there: nothing worked out."""
    if isinstance(value, ast.Tuple | ast.List):
        return all(_is_fresh(item, draws) for item in value.elts)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return _is_fresh(value.elt, draws)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute):
        return value.func.attr == "clone" and _is_there(value.func.value, draws)
    return isinstance(value.func, ast.Name) and value.func.id in draws


def _is_there(node: ast.expr, draws: set[str]) -> bool:
    """A name, a part of one, or a clone of it."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return _is_there(node.value, draws)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("clone", "detach") and _is_there(node.func.value, draws)
    return isinstance(node, ast.Name) or _is_fresh(node, draws)


def _provides(cell: str) -> set[str]:
    """Classes, functions and imports of a given cell; not its plain variables."""
    try:
        tree = ast.parse(re.sub(r"^[ \t]*[%!].*$", "", cell, flags=re.M))
    except SyntaxError:
        return set()
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names
