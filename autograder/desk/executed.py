"""The notebook of a graded submission, as formgrader and ``nbgrader generate_feedback`` want it.

It holds the master's cells in order, the learner's answers and own cells, and what they showed
when they ran. A check cell's outputs are the verdict, written so that nbgrader's own rule
(an error is zero, plain output is full marks, a number is that many points) gives the same points.
"""

from __future__ import annotations

import copy
import html
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.course import Cell, Plan, PlanCell
from autograder.marking import Observations, Verdict, Words

from . import safe
from .source import Source

Json = dict[str, Any]
_ENDED = {"timed out": "timed_out", "crashed": "crashed", "not run": "not_run"}


class Executed:
    """Makes executed notebooks of one lesson."""

    def __init__(self, source: Source, words: Words) -> None:
        self._words = words
        self._cells: list[tuple[str, Json]] = []
        for number, (name, node) in enumerate(source.cells(), 1):
            cell = json.loads(json.dumps(node))
            cell["id"] = _cell_id(cell.get("id"), number)
            self._cells.append((name, cell))
        self._metadata = json.loads(json.dumps(source.notebook.metadata))
        self._given = {
            name: cell["source"]
            for name, cell in self._cells
            if cell["metadata"].get("nbgrader", {}).get("solution")
        }

    def unanswered(self, sources: Mapping[str, str]) -> frozenset[str]:
        """The answer cells that are as they were given out.

        Args:
            sources: what stands in the answer cells, by their ids.
        """
        return frozenset(
            name for name, given in self._given.items() if sources.get(name, given) == given
        )

    def answers(self, plan: Plan, cells: Iterable[Cell]) -> dict[str, str]:
        """What a submission has in each answer cell, written answers (no code) included."""
        found = {cell.id: cell.source for cell in plan.cells if cell.role == "answer"}
        for cell in cells:
            if cell.grade_id in self._given and not cell.is_code:
                found.setdefault(cell.grade_id, cell.source)
        return found

    def notebook(
        self,
        plan: Plan,
        verdicts: Sequence[Verdict],
        observations: Observations | None,
        *,
        answers: Mapping[str, str],
        notes: Sequence[str] = (),
        submission: Sequence[Cell] = (),
    ) -> Json:
        """The notebook as nbformat 4.5 in plain dicts.

        Args:
            observations: None where nothing was run.
            notes: what a grader should know, put on top.
            submission: what was handed in; people also read the texts that the learner added,
                and see the pictures in written answers.
        """
        marks = {verdict.exercise: verdict for verdict in verdicts}
        numbers = {cell.id: number for number, cell in enumerate(plan.cells, 1)}
        own = _own_cells(plan)
        texts = self._texts(submission)
        pictures = {c.grade_id: c.attachments for c in reversed(submission) if c.attachments}
        cells = [_notes(notes)] if notes else []
        cells += [self._own(cell, numbers, observations) for cell in own.get("", ())]
        cells += texts.get("", ())
        for name, original in self._cells:
            cell = copy.deepcopy(original)
            cell["source"] = answers.get(name, cell["source"])
            if name in self._given and name in pictures and cell["cell_type"] == "markdown":
                cell["attachments"] = {**cell.get("attachments", {}), **pictures[name]}
            if cell["cell_type"] == "code":
                ran = observations is not None and name in numbers
                cell["execution_count"] = numbers[name] if ran else None
                if name in marks:
                    cell["outputs"] = verdict_outputs(marks[name])
                else:
                    cell["outputs"] = self._outputs(name, observations)
            cells.append(cell)
            cells += [self._own(after, numbers, observations) for after in own.get(name, ())]
            cells += texts.get(name, ())
        return _clean(
            {"cells": cells, "metadata": self._metadata, "nbformat": 4, "nbformat_minor": 5}
        )

    def _texts(self, submission: Sequence[Cell]) -> dict[str, list[Json]]:
        """Text cells that the learner added, by the cell of the master that they follow."""
        by_text = {cell["source"].strip(): name for name, cell in reversed(self._cells)}
        names = {name for name, _ in self._cells}
        found: dict[str, list[Json]] = {}
        anchor = ""
        for number, cell in enumerate(submission, 1):
            known = cell.grade_id if cell.grade_id in names else by_text.get(cell.source.strip())
            if known:
                names.discard(known)  # another copy of a written answer is a text of its own
                anchor = known
            elif not cell.is_code and cell.source.strip():
                text = {
                    "cell_type": "markdown",
                    "id": f"text-{number}",
                    "metadata": {},
                    "source": cell.source,
                }
                if cell.attachments:
                    text["attachments"] = cell.attachments
                found.setdefault(anchor, []).append(text)
        return found

    def _own(
        self, cell: PlanCell, numbers: Mapping[str, int], observations: Observations | None
    ) -> Json:
        return {
            "cell_type": "code",
            "id": cell.id.replace("_", "-"),
            "metadata": {},
            "source": cell.source,
            "execution_count": numbers[cell.id],
            "outputs": self._outputs(cell.id, observations),
        }

    def _outputs(self, name: str, observations: Observations | None) -> list[Json]:
        if observations is None or name not in observations.cells:
            return []
        run = observations.cells[name]
        outputs = plain_outputs(observations, name)
        if run.ended in _ENDED:
            outputs.append(_error(run.ended, self._words[_ENDED[run.ended]].says))
        return outputs


def verdict_outputs(verdict: Verdict) -> list[Json]:
    """A check cell's outputs, from which nbgrader reads the verdict's points."""
    if verdict.points <= 0 and verdict.verdict != "passed":
        return [_error(verdict.mistake or verdict.verdict, verdict.message or "Not passed.")]
    text = verdict.message or "✓ passed"
    shown = {"output_type": "stream", "name": "stdout", "text": text + "\n"}
    if verdict.points >= verdict.max_points:
        return [shown]
    points = {"text/plain": f"{verdict.points:g}"}
    return [
        shown,
        {
            "output_type": "execute_result",
            "data": points,
            "metadata": {},
            "execution_count": None,
        },
    ]


def as_text(notebook: Json) -> str:
    """A notebook's file, on one line: with indents it takes ten times as long to write."""
    return json.dumps(notebook, ensure_ascii=False, sort_keys=True) + "\n"


def _own_cells(plan: Plan) -> dict[str, list[PlanCell]]:
    """The learner's own cells by the cell that they follow; '' for those at the top."""
    found: dict[str, list[PlanCell]] = {}
    anchor = ""
    for cell in plan.cells:
        if cell.role == "own":
            found.setdefault(anchor, []).append(cell)
        else:
            anchor = cell.id
    return found


def _notes(notes: Sequence[str]) -> Json:
    # A note may quote a file's name, which a stranger chose: here it is text and nothing else.
    lines = [f"<li>{html.escape(note, quote=False)}</li>" for note in notes]
    lines = ["<p><b>Notes from grading</b></p>", "<ul>", *lines, "</ul>"]
    return {"cell_type": "markdown", "id": "notes", "metadata": {}, "source": "\n".join(lines)}


def _error(name: str, message: str) -> Json:
    # Formgrader and feedback show exactly these lines, in a <pre> that does not wrap.
    lines = textwrap.wrap(message, 96) or [message]
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": lines}


# Of what a cell displays, what nbgrader's pages show without running anything.
_SHOWN = ("text/plain", "text/latex", "image/png", "image/jpeg", "image/svg+xml")


_ESCAPES = re.compile("\x1b(?:\\[[0-9;]*[A-Za-z])?")


def _seen(text: str) -> str:
    """A text without a terminal's escapes: some of them stop nbconvert, many take it minutes."""
    return _ESCAPES.sub("", text)


_PAGES = ("text/html", "text/markdown")
_LONGEST_PAGES = 1_000_000  # characters; to make them safe takes a second


def _pages(observations: Observations) -> int:
    """The characters of all HTML and Markdown that a notebook displays."""
    runs = observations.cells.values()
    shown = (output.get("data", {}) for run in runs for output in run.outputs)
    return sum(len(data.get(kind, "")) for data in shown for kind in _PAGES)


def plain_outputs(observations: Observations, name: str) -> list[Json]:
    """A cell's outputs as nbformat takes them and a browser may show them.

    Where a notebook displays too much HTML, what it says in plain text stays.
    """
    rich = _pages(observations) <= _LONGEST_PAGES
    return [_plain_output(output, rich=rich) for output in observations.cells[name].outputs]


def _plain_output(output: Mapping[str, Any], *, rich: bool) -> Json:
    plain: Json = {
        key: _seen(value) if isinstance(value, str) else value for key, value in output.items()
    }
    if "traceback" in plain:
        plain["traceback"] = [_seen(line) for line in plain["traceback"]]
    if "data" in plain:
        data = {kind: text for kind, text in plain["data"].items() if isinstance(text, str)}
        plain["data"] = {kind: _seen(data[kind]) for kind in _SHOWN if kind in data}
        if not rich:
            pass
        elif "text/html" in data:
            plain["data"]["text/html"] = safe.html(data["text/html"])
        elif "text/markdown" in data:
            plain["data"]["text/html"] = safe.markdown(data["text/markdown"])
        plain["metadata"] = {}
    return plain


def _cell_id(name: object, number: int) -> str:
    fits = isinstance(name, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    return str(name) if fits else f"cell-{number}"


def _clean(value: Any) -> Any:
    """Replace what can't be written as UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value
