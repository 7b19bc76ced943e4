"""The rules for check cells: what keeps expected values out of a learner's process.

When grading, a check cell runs with only the first argument of each ``expect``; the rest is
worked out from the reference, in another process with the same seeds. The rules make sure that
the two runs meet the same inputs and the same calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .check_names import name_findings
from .strip import is_expect

_VERDICTS = {
    *("equal", "eq", "allclose", "isclose", "array_equal", "assert_close", "all", "any"),
    *("bool", "isinstance", "issubclass", "hasattr", "callable"),
}
_WRAPPERS = {"int", "float", "str", "tensor", "list", "tuple"}
_KEYWORDS = {"mistakes", "accepted"}
_CHANGES = {
    *("append", "extend", "insert", "pop", "remove", "clear", "update", "sort", "reverse"),
    *("setdefault", "popitem", "backward", "next"),
}
_RANDOM = {
    *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
    *("bernoulli", "multinomial", "manual_seed", "seed"),
}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def check_cell_findings(source: str, exercise: str, given: Sequence[str]) -> list[str]:
    """What breaks a rule in a check cell's source.

    Args:
        exercise: the function that the learner writes.
        given: sources of the given cells; their classes, functions and imports may be used.
    """
    try:
        tree = ast.parse(source)
        names = name_findings(source, exercise, given)
    except SyntaxError as error:
        return [
            f"its check cell is no plain Python (line {error.lineno}); magics can't be used there"
        ]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_expect(node)]
    if not calls:
        return ["its check cell never calls expect"]
    cell = _Cell(tree, exercise)
    findings = [
        *_placement(tree, len(calls)),
        *_forms(tree, len(calls)),
        *_inputs(tree, exercise),
        *(finding for call in calls for finding in cell.call(call)),
        *names,
    ]
    return list(dict.fromkeys(findings))


def _placement(tree: ast.Module, total: int) -> Iterator[str]:
    """Number and order of expect calls must not depend on a learner's values."""
    if sum(_count(tree.body)) < total:
        yield (
            "call expect at the top level, in a `with`, or in a `for` over range(NUMBER) or a "
            "literal list only: the number of calls must not depend on learners"
        )


def _count(body: Sequence[ast.stmt]) -> Iterator[int]:
    for node in body:
        if isinstance(node, ast.Expr) and is_expect(node.value):
            yield 1
        elif isinstance(node, ast.With) or (
            isinstance(node, ast.For)
            and not node.orelse
            and _literal_loop(node.iter)
            and not any(isinstance(n, ast.Break | ast.Continue) for n in _same_scope(node))
        ):
            yield from _count(node.body)


def _literal_loop(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        plain = all(_is_literal(word.value) for word in node.keywords)
        if node.func.id == "range":
            return plain and all(map(_is_literal, node.args))
        items = node.args[:1] if node.func.id == "enumerate" else node.args
        return plain and node.func.id in ("zip", "enumerate") and all(map(_literal_loop, items))
    return isinstance(node, ast.List | ast.Tuple) and not any(
        isinstance(item, ast.Starred) for item in node.elts
    )


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    )


def _same_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but not what is in functions and classes."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield from _same_scope(child)


def _binds_expect(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "expect" and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Global | ast.Nonlocal):
        return "expect" in node.names
    if isinstance(node, ast.arg):
        return node.arg == "expect"
    return getattr(node, "name", "") == "expect" and not isinstance(node, ast.alias)


def _forms(tree: ast.Module, total: int) -> Iterator[str]:
    for node in ast.walk(tree):
        line = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.NamedExpr):
            yield f"{line}: no := in a check cell; it would leave a name behind"
        elif isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith | ast.AsyncFunctionDef) or (
            isinstance(node, ast.comprehension) and node.is_async
        ):
            yield f"{line}: no await in a check cell"
        elif _binds_expect(node):
            yield f"{line}: `expect` is bound to something else"
        elif isinstance(node, ast.alias) and {"expect", "*"} & {node.asname, node.name}:
            yield f"{line}: `expect` is imported by the first cell of the lesson already"
    if sum(isinstance(n, ast.Name) and n.id == "expect" for n in ast.walk(tree)) > total:
        yield "`expect` is used without being called; it can't be renamed or handed on"


def _inputs(tree: ast.Module, exercise: str) -> Iterator[str]:
    """Inputs come from the check's own generator, made before any code of a learner runs."""
    top = list(_same_scope(tree))
    learners = [
        node.lineno
        for node in top
        if isinstance(node, ast.Call)
        and (is_expect(node) or any(_reads(exercise, part) for part in _same_scope(node)))
    ]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _called(node) in _RANDOM and isinstance(node.func, ast.Attribute):
            yield f"line {node.lineno}: draw inputs with Draw(), which learners' code can't disturb"
        late = node.lineno > min(learners, default=node.lineno) or node not in top
        if _called(node) == "Draw" and late:
            yield f"line {node.lineno}: make Draw() at the top, before learners' code runs"


def _reads(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _called(node: ast.Call) -> str:
    """The last part of a called name."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


class _Cell:
    """What a check cell's expect calls may hand over and compare with."""

    def __init__(self, tree: ast.Module, exercise: str) -> None:
        nodes = list(ast.walk(tree))
        self._functions = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
        self._learners = {exercise, "answer"}
        self._learners |= {
            name
            for name, function in self._functions.items()
            if any(_reads(one, part) for part in ast.walk(function) for one in self._learners)
        }
        assigned = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
        bound = [(t.id, n.value) for n in assigned for t in n.targets if isinstance(t, ast.Name)]
        made = [(name, _called(value)) for name, value in bound if isinstance(value, ast.Call)]
        self._draws = {"Draw"} | {name for name, maker in made if maker == "Draw"}
        # A class is written with a capital; Draw makes no module.
        self._modules = {name for name, maker in made if maker[:1].isupper()} - self._draws

    def call(self, call: ast.Call) -> Iterator[str]:
        """What is wrong with one call of expect."""
        line = f"line {call.lineno}"
        if any(isinstance(arg, ast.Starred) for arg in call.args) or any(
            word.arg is None for word in call.keywords
        ):
            yield f"{line}: write out the arguments of expect, without * or **"
            return
        if len(call.args) != 3 or any(word.arg not in _KEYWORDS for word in call.keywords):
            yield (
                f"{line}: expect takes the value, the expected value and what it is, in this "
                "order, then mistakes= and accepted="
            )
            return
        if any(is_expect(inner) for inner in ast.walk(call) if inner is not call):
            yield f"{line}: an expect inside an expect"
        actual = call.args[0]
        if self._is_verdict(actual.body if isinstance(actual, ast.Lambda) else actual):
            yield f"{line}: hand over a value to compare, not the result of a comparison"
        for removed in (*call.args[1:], *(word.value for word in call.keywords)):
            for node in ast.walk(removed):
                yield from (f"{line}: {finding}" for finding in self._removed(node))

    def _removed(self, node: ast.AST) -> Iterator[str]:
        """What an expected value or a mistake may not do."""
        if isinstance(node, ast.Name) and node.id in self._learners:
            yield f"expected values don't come from `{node.id}`, where learners' code has a say"
        if not isinstance(node, ast.Call):
            return
        name = _called(node)
        if isinstance(node.func, ast.Name) and name in self._draws:
            yield "expected values draw nothing; draw at the top of the cell"
        elif isinstance(node.func, ast.Name) and name in self._modules:
            yield f"expected values don't call the module `{name}`; work them out from the inputs"
        elif name in _CHANGES or (name.endswith("_") and not name.endswith("__")):
            yield f"`{name}` changes something; expected values have no side effects"

    def _is_verdict(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Compare | ast.BoolOp):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.IfExp):
            return self._is_verdict(node.body) or self._is_verdict(node.orelse)
        if isinstance(node, ast.List | ast.Tuple | ast.Dict):
            items = node.values if isinstance(node, ast.Dict) else node.elts
            return any(map(self._is_verdict, items))
        if isinstance(node, ast.Name):
            return self._gives_verdict(node.id)
        if isinstance(node, ast.Call):
            name = _called(node)
            wrapped = name in _WRAPPERS and any(map(self._is_verdict, node.args))
            return wrapped or name in _VERDICTS or self._gives_verdict(name)
        return False

    def _gives_verdict(self, name: str) -> bool:
        """Whether a function of this cell returns a verdict."""
        function = self._functions.get(name)
        statements = [s for part in function.body for s in _same_scope(part)] if function else []
        returned = [s.value for s in statements if isinstance(s, ast.Return) and s.value]
        # A function that calls itself would not end here.
        return any(
            self._is_verdict(value)
            for value in returned
            if not any(_reads(name, part) for part in ast.walk(value))
        )
