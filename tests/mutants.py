"""Small wrong (and a few harmless) changes of a reference solution, made from its syntax tree.

``python -m tests.mutants`` prints them for every exercise of the first lesson.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, Exercise

LESSON = "01_add_and_model"
ROOT = Path(__file__).resolve().parents[1]

# How each exercise's function is registered on a module. A hook on a tensor can't reach the
# tensor it sits on, so there is none for it.
REGISTER = {
    "pre_hook": "register_forward_pre_hook",
    "output_hook": "register_forward_hook",
    "hook": "register_forward_hook",
    "module_hook": "register_full_backward_hook",
    "normalise_hook": "register_full_backward_hook",
}


@dataclass(frozen=True)
class Mutant:
    """A changed solution: what was changed, and the function as it is now."""

    name: str
    source: str


Change = Iterator[tuple[str, ast.FunctionDef]]


def mutants(exercise: Exercise) -> list[Mutant]:
    """All distinct mutants of an exercise's reference solution, none equal to it."""
    assert exercise.answer is not None
    function = next(
        node
        for node in ast.parse(exercise.answer.source).body
        if isinstance(node, ast.FunctionDef) and node.name == exercise.id
    )
    seen = {ast.unparse(function)}
    found: dict[str, str] = {}
    for name, changed in _changes(function):
        text = ast.unparse(changed)
        if text in seen:
            continue
        seen.add(text)
        assert name not in found, name
        found[name] = text + "\n"
    return [Mutant(name, source) for name, source in found.items()]


def _changes(function: ast.FunctionDef) -> Change:
    yield from _statements(function)
    yield from _returns(function)
    yield from _signature(function)
    yield from _insertions(function)
    for kind in (_indices, _constants, _operators, _names, _stores):
        yield from _expressions(function, kind)


def _with_body(function: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    changed = copy.deepcopy(function)
    changed.body = copy.deepcopy(body) or [ast.Pass()]
    return ast.fix_missing_locations(changed)


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _statements(function: ast.FunctionDef) -> Change:
    body = function.body
    yield "empty body", _with_body(function, [])
    yield "reverse the statements", _with_body(function, body[::-1])
    for i, statement in enumerate(body):
        at = f"statement {i + 1}"
        yield f"drop {at}", _with_body(function, body[:i] + body[i + 1 :])
        if isinstance(statement, ast.Return):
            continue
        yield f"repeat {at}", _with_body(function, body[: i + 1] + body[i:])
        if statement is not body[-1]:
            early = [*body[: i + 1], _statement("return"), *body[i + 1 :]]
            yield f"return after {at}", _with_body(function, early)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            printed = _statement(f"print({ast.unparse(statement.value.args[0])})")
            instead = [*body[:i], printed, *body[i + 1 :]]
            yield f"print instead in {at}", _with_body(function, instead)


def _returns(function: ast.FunctionDef) -> Change:
    *before, last = function.body
    values = [arg.arg for arg in function.args.args if arg.arg != "module"]
    texts = [*values, *(f"{name}[0]" for name in values), "answer", "answer[0]", "0", "()"]
    texts += [f"tuple(2 * v for v in {name})" for name in values]
    texts += ["None, None", "(torch.zeros(1), torch.zeros(1))"]
    if isinstance(last, ast.Return) and last.value is not None:
        value = ast.unparse(last.value)
        value = f"({value})"
        texts += [f"({value},)", f"[{value}]", f"[*{value}]", f"iter({value})"]
        texts += [
            f"{value}{more}" for more in ("[0]", "[::-1]", ".detach()", ".clone()", ".item()")
        ]
        for name, text in {"no return": value, "print instead of return": f"print{value}"}.items():
            yield name, _with_body(function, [*before, _statement(text)])
    else:
        before = function.body
    for text in texts:
        yield f"return {text}", _with_body(function, [*before, _statement(f"return {text}")])


def _signature(function: ast.FunctionDef) -> Change:
    fewer, more, other = (copy.deepcopy(function) for _ in range(3))
    del fewer.args.args[0]
    yield "first parameter left out", fewer
    more.args.args.append(ast.arg("more"))
    yield "one parameter too many", more
    other.name += "s"
    yield "another name", other


def _insertions(function: ast.FunctionDef) -> Change:
    body = function.body
    last = function.args.args[-1].arg
    register = REGISTER.get(function.name)
    stores = "answer" in ast.unparse(function)
    tensor = f"{last}[0]" if last in ("input", "grad_output") else last
    first = {"last parameter edited in place": f"{tensor}.mul_(2)"}
    if stores:
        first["a local answer"] = "answer = []"
        first["a global answer made anew"] = "global answer; answer = []"
        first["answer cleared"] = "answer.clear()"
    if register:
        first["registered again inside"] = f"module.{register}({function.name})"
    for name, text in first.items():
        yield name, _with_body(function, [*ast.parse(text).body, *body])
    around = {
        "without gradients": "with torch.no_grad(): pass",
        "only for one element": f"if {last}[0].numel() == 1: pass",
        "only the first time": f"if not hasattr({function.name}, 'ran'): pass",
    }
    if stores:
        around["only while answer is empty"] = "if not answer: pass"
    for name, head in around.items():
        block = _statement(head)
        assert isinstance(block, ast.With | ast.If)
        block.body = copy.deepcopy(body)
        if name == "only the first time":
            block.body.insert(0, _statement(f"{function.name}.ran = True"))
        yield name, _with_body(function, [block])


def _expressions(
    function: ast.FunctionDef, kind: Callable[[ast.expr], Iterator[tuple[str, str]]]
) -> Change:
    """Replace one expression at a time by the texts that ``kind`` gives for it."""
    count = sum(isinstance(node, ast.expr) for node in _inside(function))
    for place in range(count):
        original = [node for node in _inside(function) if isinstance(node, ast.expr)][place]
        for what, text in kind(original):
            changed = copy.deepcopy(function)
            target = [node for node in _inside(changed) if isinstance(node, ast.expr)][place]
            new = ast.parse(text, mode="eval").body
            _Swap(target, new).visit(changed)
            yield f"{what}, expression {place + 1}", ast.fix_missing_locations(changed)


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _indices(node: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner, index = ast.unparse(node.value), node.slice.value
        assert isinstance(index, int)
        yield "the other index", f"{owner}[{1 - index}]"
        yield "an index too far", f"{owner}[{index + 2}]"
        yield "no index", owner
        yield "one index more", f"{owner}[{index}][0]"


def _constants(node: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        for value in (node.value + 1, -node.value, 0, 2 * node.value):
            yield f"{value} for {node.value}", str(value)


def _operators(node: ast.expr) -> Iterator[tuple[str, str]]:
    if not isinstance(node, ast.BinOp):
        return
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    for sign in "+-*/":
        yield f"operator {sign}", f"{left} {sign} {right}"
    yield "operands swapped", f"{right} {_sign(node)} {left}"
    name = {ast.Add: "add_", ast.Div: "div_"}[type(node.op)]
    yield "in place", f"{left}.{name}({right})"
    yield "left operand only", left
    yield "right operand only", right
    whole = f"({left} {_sign(node)} {right})"
    for what, text in {"negated": "-{}", "absolute": "{}.abs()", "detached": "{}.detach()"}.items():
        yield what, text.format(whole)


def _sign(node: ast.BinOp) -> str:
    return {ast.Add: "+", ast.Div: "/"}[type(node.op)]


def _names(node: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != "answer":
        for name in ("module", "input", "output", "grad_input", "grad_output", "inputs"):
            if name != node.id:
                yield f"{name} for {node.id}", name


def _stores(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Other things to do with a value that is appended."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(".append"):
        return
    value = ast.unparse(node.args[0])
    yield "extend", f"answer.extend({value})"
    yield "in front", f"answer.insert(0, {value})"
    texts = [f"({value},)", f"[{value}]", f"-{value}", f"{value} + 1", f"2 * {value}", "None"]
    ways = "detach() clone() item() tolist() sum() grad shape mul_(2)"
    for text in (*texts, *(f"{value}.{way}" for way in ways.split())):
        yield f"append {text}", f"answer.append({text})"


def main() -> None:
    """Print every mutant's function."""
    for exercise in Course(ROOT).master(LESSON).exercises:
        for number, mutant in enumerate(mutants(exercise), 1):
            print(f"# {exercise.id} {number}: {mutant.name}")
            print(mutant.source)


if __name__ == "__main__":
    main()
