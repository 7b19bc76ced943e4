"""What a learner waits for: our own time in each ``expect``, and ``check()``."""

from __future__ import annotations

import ast
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder.course import Course, Exercise, Master

from . import measure

# In the kernel: the time of each call of `expect` without that of the learner's function.
TIMERS = """
import json, time, types
_times, _inside = [], [0.0]

def _spent(actual):
    if type(actual) is not types.FunctionType:
        return actual
    def measured():
        started = time.perf_counter()
        try:
            return actual()
        finally:
            _inside[0] += time.perf_counter() - started
    return measured

def _timed(call):
    _inside[0], started = 0.0, time.perf_counter()
    try:
        call()
    finally:
        _times.append(time.perf_counter() - started - _inside[0])
"""


class _Timed(ast.NodeTransformer):
    """``expect(lambda: f(), ...)`` becomes ``_timed(lambda: expect(_spent(lambda: f()), ...))``."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if not (isinstance(node.func, ast.Name) and node.func.id == "expect"):
            self.generic_visit(node)
            return node
        node.args[0] = ast.Call(ast.Name("_spent", ast.Load()), [node.args[0]], [])
        nothing = ast.arguments([], [], None, [], [], None, [])
        return ast.Call(ast.Name("_timed", ast.Load()), [ast.Lambda(nothing, node)], [])


def timed(source: str) -> str:
    """A check cell in which every ``expect`` is timed."""
    return ast.unparse(ast.fix_missing_locations(_Timed().visit(ast.parse(source))))


def expects(master: Master, answers: Callable[[Exercise], list[str]], full: bool) -> list[float]:
    """Milliseconds of each call of ``expect``, in a kernel that runs the checks on ``answers``.

    Args:
        full: with the hidden tests, or only what a learner runs.
    """
    given = [cell.source for cell in master.cells if cell.kind == "given" and cell.is_code]
    classes = [source for source in given if source.startswith("class ")]
    sources = [*(source for source in given if source != "check()"), TIMERS]
    for exercise in master.exercises:
        check = timed(exercise.check.source if full else exercise.check.release)
        for answer in answers(exercise):
            sources += [*classes, answer, check]  # some wrong answers edit a class
    sources.append("print(json.dumps(_times))")
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources)))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(master.sentences, folder)
        where = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=60, allow_errors=True, resources=where)
        client.execute(env={**os.environ, "AUTOGRADER_FIGURES": "0"})
    times: list[float] = json.loads(notebook.cells[-1].outputs[0].text)
    return [1000 * seconds for seconds in times]


def solution(exercise: Exercise) -> list[str]:
    """The master's answer."""
    return [exercise.answer.source] if exercise.answer else []


def wrong(exercise: Exercise) -> list[str]:
    """The wrong answers of the bank, but those that never end."""
    folder = measure.ROOT / "tests" / "answers" / measure.LESSON / exercise.id / "wrong"
    texts = [path.read_text() for path in sorted(folder.glob("*.py"))]
    return [text for text in texts if "while True" not in text]


CHECK = """
import time
from autograder.lab import check
times = []
for _ in range({rounds}):
    started = time.perf_counter()
    check()
    times.append(time.perf_counter() - started)
"""


def check(rounds: int, package: Path) -> list[float]:
    """Seconds of ``check()`` in a kernel, on the unsolved lesson, with that copy of the package."""
    cells = [CHECK.format(rounds=rounds), "import json; print(json.dumps(times))"]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    with tempfile.TemporaryDirectory() as folder:
        for path in (measure.ROOT / "notebooks" / measure.LESSON).glob("[!.]*"):
            shutil.copy(path, folder)
        where = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=600, resources=where)
        client.execute(env={**os.environ, "PYTHONPATH": str(package)})
    times: list[float] = json.loads(notebook.cells[-1].outputs[0].text)
    return times


def pictures(rounds: int) -> list[float]:
    """Milliseconds to draw and to encode the picture of the gradients before and after."""
    from autograder.lab import draw_before_after

    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        draw_before_after((15.0, 10.0), (0.6, 0.4))._repr_mimebundle_()
        times.append(1000 * (time.perf_counter() - started))
    return times[1:]  # the first one loads fonts


def main() -> None:
    master = Course(measure.ROOT).master(measure.LESSON)
    passed = expects(master, solution, full=True)
    failed = expects(master, wrong, full=False)
    whole = check(5, measure.ROOT)
    with tempfile.TemporaryDirectory() as folder:  # the package alone, as for a student
        shutil.copytree(measure.ROOT / "autograder", Path(folder) / "autograder")
        visible = check(5, Path(folder))
    measure.write(
        "learner",
        [
            ("`expect` that passes, ms", measure.spread(passed)),
            ("the longest of them, ms", f"{max(passed):.3g}"),
            ("`expect` on wrong answers, ms", measure.spread(failed)),
            ("the longest of them, ms", f"{max(failed):.3g}"),
            ("a picture, ms", measure.spread(pictures(20))),
            ("`check()`, seconds", measure.spread(whole)),
            ("`check()` without the masters, seconds", measure.spread(visible)),
        ],
        [
            "`expect` in a real kernel, without the time of the learner's function, with showing "
            f"the box: {len(passed)} calls on the solution, hidden tests included, and "
            f"{len(failed)} on the wrong answers of the answer bank.",
        ],
    )


if __name__ == "__main__":
    main()
