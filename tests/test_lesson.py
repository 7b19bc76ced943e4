"""Each lesson in a real kernel, as "Restart and run all" runs it: unsolved, and solved."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import textwrap
from pathlib import Path

import nbclient
import nbformat
import pytest

from autograder.course import STUB, Course

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir())
# Cells that show a real warning on purpose: the lesson explains it.
WARNS = {"given_parameters"}


def executed(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    # In a copy: check() remembers beside the notebook what it has seen.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(path.parent, folder, dirs_exist_ok=True)
        where = {"metadata": {"path": folder}}
        return nbclient.NotebookClient(notebook, timeout=120, resources=where).execute()


def outputs(notebook: nbformat.NotebookNode, kind: str) -> dict[str, list[nbformat.NotebookNode]]:
    """Outputs of one kind by the cell's grade_id."""
    found = {
        cell.metadata.nbgrader.grade_id: [out for out in cell.outputs if out.output_type == kind]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    return {name: outs for name, outs in found.items() if outs}


@pytest.mark.parametrize("lesson", LESSONS)
def test_unsolved_it_runs_to_the_end_with_one_line_for_each_todo(lesson: str) -> None:
    (path,) = (ROOT / "notebooks" / lesson).glob("*.ipynb")
    notebook = executed(path)  # raises where an error is not in a cell tagged for it
    for name, errors in outputs(notebook, "error").items():
        assert len(errors) == 1
        assert len(errors[0].traceback) == 1, name
        assert "TODO" in errors[0].traceback[0], name
    answers = {
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.nbgrader.solution
    }
    checks = {name.removesuffix("_answer") for name in answers}
    assert answers | checks <= outputs(notebook, "error").keys()


# What stands in place of a TODO by turns, where somebody has worked for half an hour.
HALF_SOLVED = ("{solution}", "raise ValueError('oops')", "raise Todo", "return no_such_name", "(")


@pytest.mark.parametrize("lesson", LESSONS)
def test_half_solved_it_runs_to_the_end_with_sentences(lesson: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "notebooks" / lesson, tmp_path, dirs_exist_ok=True)
    master = Course(ROOT).master(lesson)
    path = tmp_path / master.path.name
    notebook = nbformat.read(path, as_version=4)
    turns = dict(zip([e.id for e in master.exercises], itertools.cycle(HALF_SOLVED)))
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("_answer")
        if name in turns and cell.metadata.nbgrader.solution:
            solution = next(e.answer.solution for e in master.exercises if e.id == name)
            code = turns[name].format(solution=textwrap.dedent(solution).strip())
            cell.source = cell.source.replace(STUB, textwrap.indent(code, "    ").strip())
    nbformat.write(notebook, path)
    errors = outputs(executed(path), "error")
    for name, code in turns.items():
        if code == "{solution}":
            assert not {name, f"{name}_answer"} & errors.keys()
            continue
        (sentence,) = errors[name][0].traceback  # the box above it says the rest
        assert "\n" not in sentence
    # Their own lines only, not those of PyTorch that they came through.
    shown = ["\n".join(error.traceback) for found in errors.values() for error in found]
    assert max(len(text.splitlines()) for text in shown) < 40
    assert not any("torch/" in text for text in shown)


@pytest.mark.parametrize("lesson", LESSONS)
def test_solved_it_shows_no_error_and_no_warning(
    lesson: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")  # check() is tested elsewhere
    (path,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    notebook = executed(path)
    assert outputs(notebook, "error") == {}
    streams = outputs(notebook, "stream")
    loud = {name for name, outs in streams.items() if any(out.name == "stderr" for out in outs)}
    assert loud <= WARNS
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.grade:
            text = "".join(out.text for out in cell.outputs)
            assert text
            assert all(line.startswith("✓ ") for line in text.splitlines())
