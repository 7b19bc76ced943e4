"""The rules for check cells: what keeps expected values out of a learner's process.

When grading, a check cell runs with only the first argument of each ``expect``; the rest is
worked out from the reference, in another process with the same seeds. The rules make sure that
the two runs meet the same inputs and the same calls.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from .strip import is_expect, strip

_VERDICTS = {"equal", "allclose", "isclose", "isinstance", "all", "any", "assert_close", "bool"}
_KEYWORDS = {"mistakes", "accepted", "expected", "what", "actual"}
_FRESH = {"clone"}
_DRAW = "Draw"


def check_cell_findings(source: str, exercise: str, given: Sequence[str]) -> list[str]:
    """What breaks a rule in a check cell's source.

    Args:
        exercise: the function that the learner writes.
        given: sources of the given cells; their classes, functions and imports may be used.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"its check cell is no plain Python (line {error.lineno}); magics can't be used there"]
    calls = [node for node in ast.walk(tree) if is_expect(node)]
    if not calls:
        return ["its check cell never calls expect"]
    return [
        *_placement(tree, len(calls)),
        *_forms(tree),
        *(finding for call in calls for finding in _call(call)),
        *_names(tree, source, exercise, given),
    ]


def _placement(tree: ast.Module, total: int) -> Iterator[str]:
    """Number and order of expect calls must not depend on a learner's values."""
    allowed = sum(_count(tree.body))
    if allowed < total:
        yield (
            "call expect at the top level, in a `with`, or in a `for` over range(NUMBER) or a "
            "literal list only: the number of calls must not depend on learners"
        )


def _count(body: Sequence[ast.stmt]) -> Iterator[int]:
    for node in body:
        if isinstance(node, ast.Expr) and is_expect(node.value):
            yield 1
        elif isinstance(node, ast.With):
            yield from _count(node.body)
        elif isinstance(node, ast.For) and not node.orelse and _literal_loop(node.iter):
            if not any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in ast.walk(node)):
                yield from _count(node.body)


def _literal_loop(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id == "range":
            return all(isinstance(arg, ast.Constant) for arg in node.args)
        if node.func.id in ("zip", "enumerate"):
            return all(map(_literal_loop, node.args))
    if isinstance(node, ast.List | ast.Tuple):
        return not any(isinstance(item, ast.Starred) for item in node.elts)
    return False


def _forms(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.NamedExpr):
            yield f"line {line}: no := in a check cell; it would leave a name behind"
        elif isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith | ast.AsyncFunctionDef):
            yield f"line {line}: no await in a check cell"
        elif isinstance(node, ast.Name) and node.id == "expect":
            if not isinstance(node.ctx, ast.Load):
                yield f"line {line}: `expect` is bound to something else"
        elif isinstance(node, ast.alias) and "expect" in (node.asname, node.name):
            yield f"line {line}: `expect` is imported by the first cell of the lesson already"
    loads = sum(isinstance(n, ast.Name) and n.id == "expect" for n in ast.walk(tree))
    if loads > sum(is_expect(n) for n in ast.walk(tree)):
        yield "`expect` is used without being called; it can't be renamed or handed on"


def _call(call: ast.AST) -> Iterator[str]:
    assert isinstance(call, ast.Call)
    line = f"line {call.lineno}"
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(
        word.arg not in _KEYWORDS for word in call.keywords
    ):
        yield f"{line}: write out the arguments of expect, without * or **"
        return
    if len(call.args) < 3:
        yield f"{line}: expect needs the value, the expected value and what it is, in this order"
        return
    if any(is_expect(inner) for inner in ast.walk(call) if inner is not call):
        yield f"{line}: an expect inside an expect"
    actual = call.args[0]
    value = actual.body if isinstance(actual, ast.Lambda) else actual
    if _is_verdict(value):
        yield f"{line}: hand over a value to compare, not the result of a comparison"
    for removed in (*call.args[1:], *(word.value for word in call.keywords)):
        for node in ast.walk(removed):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr.endswith("_") and not node.func.attr.endswith("__"):
                    yield f"{line}: `{node.func.attr}` edits in place; expected values have no side effects"


def _is_verdict(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare | ast.BoolOp):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in _VERDICTS
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(map(_is_verdict, node.elts))
    return False


def _names(tree: ast.Module, source: str, exercise: str, given: Sequence[str]) -> Iterator[str]:
    stored = _stored(tree)
    loaded = _loaded(tree)
    known = stored | {exercise, "answer", "expect"} | set(dir(builtins))
    for cell in given:
        known |= _provides(cell)
    strange = sorted(loaded - known)
    if strange:
        yield (
            f"its check cell reads {', '.join(strange)}: it may read only `{exercise}`, `answer`, the "
            "given classes and imports, and names it makes itself"
        )
    kept = _loaded(ast.parse(strip(source)))
    for name in sorted((loaded & stored) - kept):
        values = [node.value for node in ast.walk(tree) if _assigns(node, name)]
        if not values or not all(map(_is_fresh, values)):
            yield (
                f"`{name}` is used only for expected values, and would stand in the learner's process: "
                "write it into the expect call, or make it a clone() or a draw"
            )


def _assigns(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and name in {
        leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
    }


def _is_fresh(value: ast.expr) -> bool:
    """A clone, or a draw: a call of a lower-case name bound to Draw() is written draw(...)."""
    if isinstance(value, ast.Tuple | ast.List):
        return all(map(_is_fresh, value.elts))
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute):
        return value.func.attr in _FRESH
    return isinstance(value.func, ast.Name) and value.func.id in ("draw", _DRAW)


def _stored(tree: ast.Module) -> set[str]:
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return names | {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)
    }


def _loaded(tree: ast.Module) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _provides(cell: str) -> set[str]:
    """Classes, functions and imports of a given cell; not its plain variables."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:  # magics
        return set()
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names
