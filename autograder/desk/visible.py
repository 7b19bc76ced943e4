"""A notebook's own checks, where the masters aren't: run as it is, and what its checks say.

The notebook runs in a kernel as a person would run it, so what comes out is the learner's own
word. It is for the learner: no marks are made from it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from autograder import course, marking
from autograder.course import NotebookError
from autograder.engine import MEANING, kernel
from autograder.marking import CellRun, Ending, Raised, Verdict, Words

from . import judging

CELL_SECONDS = 30  # the first cell imports torch, which is slow on a busy machine
NOTEBOOK_SECONDS = 180

# check() does nothing then, a failed check is its sentence, and no picture is drawn.
_QUIET = {"NBGRADER_EXECUTION": "validate", "AUTOGRADER_FIGURES": "0"}

Tell = Callable[[str], None]


def check(
    path: Path, tell: Tell, warn: Tell = lambda _: None
) -> tuple[list[tuple[Verdict, str]], list[str]]:
    """Run a notebook and read its graded cells.

    Args:
        path: a file that :func:`autograder.course.read_cells` can read.
        tell: is given how far it is, in words.
        warn: is told, before anything is run, that nothing confines the notebook.

    Returns:
        A verdict and a heading for each check cell, then notes. A verdict's points say only
        that the visible check passed.

    Raises:
        NotebookError: it isn't a notebook, or holds no check cells.
    """
    cells = _read(path)
    checks: dict[str, int] = {}
    answers: dict[str, int] = {}
    for place, cell in enumerate(cells):
        if cell.cell_type == "code" and _name(cell):
            kind = _nbgrader(cell)
            found = checks if kind.get("grade") else answers if kind.get("solution") else {}
            found.setdefault(_name(cell), place)  # of several the first, as in grading
    if not checks:
        raise NotebookError(f"{path}: there are no checks in it")
    warn(f"the notebook runs as when you run it yourself ({MEANING['D']})")
    runs = _run(cells, path.parent, tell)
    words = _words(path.parent / "mistakes.toml")
    plain = [course.Cell(cell.source, cell.cell_type == "code") for cell in cells]
    verdicts = []
    for name, place in checks.items():

        def decide(run: CellRun | None, cell: Any = cells[place]) -> Verdict:
            return marking.decide(_name(cell), _points(cell), run, (), words)

        answer = answers.get(name + course.ANSWER_SUFFIX, place)
        verdict = _named(decide(runs[place]), runs[place])
        verdict = judging.after_answer(verdict, runs[answer], decide, words)
        verdicts.append((verdict, course.heading(plain, answer)))
    return verdicts, list(_notes([cells[i] for i in checks.values()], checks, answers))


def _named(verdict: Verdict, run: CellRun) -> Verdict:
    """With the mistake's name and hint, which stand beside the box that ``expect`` showed."""
    if verdict.mistake != "assertion":
        return verdict
    for output in run.outputs:
        facts = output.get("metadata", {}).get("autograder")
        if isinstance(facts, dict):
            mistake, hint = facts.get("mistake"), facts.get("hint")
            return replace(verdict, mistake=str(mistake), hint=hint if hint in (1, 2, 3) else None)
    return verdict


def _read(path: Path) -> list[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ids that are missing, and the like
            return list(nbformat.read(path, as_version=4).cells)
    except Exception as error:  # nbformat lets through what its upgrades stumble over
        raise NotebookError(f"{path}: it can't be read as a notebook") from error


def _nbgrader(cell: Any) -> dict[str, Any]:
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, dict) else {}


def _name(cell: Any) -> str:
    name = _nbgrader(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def _points(cell: Any) -> float:
    points = _nbgrader(cell).get("points")
    return float(points) if isinstance(points, int | float) else 0.0


def _words(path: Path) -> Words:
    try:
        return marking.for_lesson(path)
    except marking.WordsError:  # a learner's copy may be damaged
        return marking.shared()


def _notes(
    cells: Sequence[Any], checks: Collection[str], answers: Collection[str]
) -> Iterator[str]:
    from nbgrader.utils import compute_checksum  # slow to import

    for name in answers:
        exercise = name.removesuffix(course.ANSWER_SUFFIX)
        if exercise != name and exercise not in checks:
            yield f"the check of {exercise!r} is missing in this notebook"
    for cell in cells:
        handed_out = _nbgrader(cell).get("checksum")
        if handed_out and handed_out != compute_checksum(cell):
            yield f"the check of {_name(cell)!r} was edited: it says nothing now"


# --- running -------------------------------------------------------------------------------------


def _run(cells: Sequence[Any], folder: Path, tell: Tell) -> dict[int, CellRun]:
    """How each code cell ended. A cell that hangs or ends its kernel is left out of a new run."""
    deadline = time.monotonic() + NOTEBOOK_SECONDS
    code = [i for i, cell in enumerate(cells) if cell.cell_type == "code"]
    seen: dict[int, CellRun] = {}
    stopped: set[int] = set()
    while time.monotonic() < deadline:
        todo = [place for place in code if place not in stopped]
        bad = _run_once({i: cells[i] for i in todo}, folder, tell, deadline, seen)
        if bad is None:
            break
        stopped.add(bad)
    for place in code:
        seen.setdefault(place, CellRun(_name(cells[place]), "not run"))
    return seen


def _run_once(
    cells: dict[int, Any], folder: Path, tell: Tell, deadline: float, seen: dict[int, CellRun]
) -> int | None:
    """Run cells in a new kernel; ``seen`` gains how they ended. The one that stopped it, if any."""
    tell("starting a fresh Python")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.source) for cell in cells.values()]
    )

    def seconds(_: Any) -> float:
        return max(1.0, min(CELL_SECONDS, deadline - time.monotonic()))

    with kernel.running(notebook, folder, seconds, _QUIET) as client:
        for number, (place, cell) in enumerate(cells.items()):
            tell(f"cell {number + 1} of {len(cells)}")
            ended: Ending = "ok"
            try:
                client.execute_cell(notebook.cells[number], number)
            except CellTimeoutError:
                ended = "timed out"
            except DeadKernelError:
                ended = "crashed"
            run = _as_run(_name(cell), ended, notebook.cells[number].outputs)
            if place not in seen or seen[place].ended == "not run":
                seen[place] = run
            if ended != "ok":
                return place
    return None


def _as_run(name: str, ended: Ending, outputs: Sequence[Any]) -> CellRun:
    error = next((out for out in outputs if out.output_type == "error"), None)
    if error is None or ended != "ok":
        return CellRun(name, ended, tuple(outputs))
    # What a check says is the text of an assertion.
    kind = "AssertionError" if error.ename == "CheckFailed" else error.ename
    return CellRun(name, "error", tuple(outputs), error=Raised(kind, error.evalue))
