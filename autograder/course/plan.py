"""Rebuilds a trustworthy notebook from a submission: what will run, in which order.

The rule, in one place:

- Given and check cells are the master's, all of them, once, in the master's order.
- A cell of the submission is recognised by its grade_id; where that is missing or unknown, by its
  text, and an answer cell also by the function it defines.
- Of an answer that is there more than once, the first code cell counts as the answer (where none
  is code any more, the first cell). Other code cells of it run too, as the learner's own code.
- The learner's other code cells run after the cell that they follow in the submission.
- An answer that is missing is put back as the unsolved TODO, unless the function stands elsewhere.

Other metadata, tags, outputs and the kernelspec are not looked at; a cell's type only tells
whether the learner's own cells are code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .master import ANSWER_SUFFIX, CourseError, Master, MasterCell
from .notebook import Cell
from .strip import strip

Role = Literal["given", "answer", "own", "check"]


@dataclass(frozen=True)
class PlanCell:
    """A cell to run. ``id`` is its grade_id, or for the learner's own cells ``own_N``."""

    id: str
    role: Role
    source: str

    @property
    def called(self) -> str:
        """How people are told of it."""
        if self.role == "own":
            return f"the learner's cell {self.id.removeprefix('own_')} of the notebook"
        return f"cell {self.id!r}"


@dataclass(frozen=True)
class Plan:
    """What the engine runs for one submission. Repairs are said in words."""

    lesson: str
    cells: tuple[PlanCell, ...]
    repairs: tuple[str, ...] = ()


def reference_plan(master: Master, *, stripped: bool = False, solved: bool = True) -> Plan:
    """The master itself: whole check cells and the solutions.

    Args:
        stripped: check cells as they go out to learners.
        solved: False for the notebook as it is released.
    """
    cells = []
    for cell in _code(master):
        source = cell.source if solved or cell.kind != "answer" else cell.release
        if cell.kind == "check" and stripped:
            source = _outgoing(cell)
        cells.append(PlanCell(cell.grade_id, _role(cell), source))
    return Plan(master.lesson, tuple(cells))


def recognise(cells: Sequence[Cell], masters: Iterable[Master]) -> Master | None:
    """The lesson that a notebook belongs to: the one with most of its cells; None for none."""
    scored = [(_score(cells, master), master) for master in masters]
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def _score(cells: Sequence[Cell], master: Master) -> int:
    # Checks and answers only: set-up cells are alike in all lessons.
    own = [cell for cell in _code(master) if cell.kind != "given"]
    found = {cell.grade_id for cell in cells}
    texts = {_text(cell.source) for cell in cells} - {""}
    functions = frozenset().union(*(cell.functions for cell in cells))
    return sum(
        cell.grade_id in found or not texts.isdisjoint(_texts(cell)) or _function(cell) in functions
        for cell in own
    )


def rebuild(master: Master, submission: Sequence[Cell]) -> Plan:
    """The plan for a submission, with every check cell of the master once and in order."""
    known = {cell.grade_id: cell for cell in _code(master)}
    by_text: dict[str, MasterCell] = {}
    for master_cell in known.values():
        for text in _texts(master_cell):
            by_text.setdefault(text, master_cell)
    matched = [
        known.get(cell.grade_id or "") or by_text.get(_text(cell.source)) for cell in submission
    ]
    repairs: list[str] = []
    answers = _find_answers(known.values(), submission, matched, repairs)

    own: dict[str, list[PlanCell]] = {}
    anchor = ""
    for place, (cell, original) in enumerate(zip(submission, matched, strict=True)):
        runs = cell.is_code
        if original is not None:
            anchor = original.grade_id
            # Another copy of an answer is the learner's own code.
            runs = runs and original.kind == "answer" and answers[anchor] != place
            if original.kind != "answer" and _text(cell.source) not in _texts(original):
                repairs.append(f"cell {anchor!r} was edited: the original was used")
        if runs and cell.source.strip():
            own.setdefault(anchor, []).append(PlanCell(f"own_{place + 1}", "own", cell.source))

    defined = frozenset().union(*(cell.functions for cell in submission))
    there = Counter(cell.grade_id for cell in matched if cell is not None)
    cells = own.get("", [])
    for grade_id, master_cell in known.items():
        if not there[grade_id]:
            repairs.append(f"cell {grade_id!r} was missing: put back")
        elif there[grade_id] > 1 and master_cell.kind != "answer":
            repairs.append(f"cell {grade_id!r} was there {there[grade_id]} times: run once")
        source = master_cell.source
        if grade_id in answers:
            source = submission[answers[grade_id]].source
        elif master_cell.kind == "answer":
            # Where the learner wrote it in another cell, no TODO is put over it.
            source = "" if _function(master_cell) in defined else master_cell.release
        elif master_cell.kind == "check":
            source = _outgoing(master_cell)
        cells.append(PlanCell(grade_id, _role(master_cell), source))
        cells.extend(own.get(grade_id, ()))
    return Plan(master.lesson, tuple(cells), tuple(dict.fromkeys(repairs)))


def _find_answers(
    known: Iterable[MasterCell],
    submission: Sequence[Cell],
    matched: list[MasterCell | None],
    repairs: list[str],
) -> dict[str, int]:
    """Where each answer stands in the submission; ``matched`` gains what was found by its text."""
    answers = {}
    for answer in known:
        if answer.kind != "answer":
            continue
        places = [i for i, cell in enumerate(matched) if cell is answer]
        if not places:
            name = _function(answer)
            places = [
                i
                for i, cell in enumerate(submission)
                if matched[i] is None and name in cell.functions
            ][:1]
        if not places:
            continue
        first = next((i for i in places if submission[i].is_code), places[0])
        matched[first] = answer
        answers[answer.grade_id] = first
        if len(places) > 1:
            repairs.append(
                f"cell {answer.grade_id!r} is there {len(places)} times: all of them run, in "
                "their order, so the last one that makes the function counts"
            )
    return answers


def _code(master: Master) -> list[MasterCell]:
    return [cell for cell in master.cells if cell.kind != "prose" and cell.is_code]


def _role(cell: MasterCell) -> Role:
    return "given" if cell.kind == "prose" else cell.kind


def _outgoing(check: MasterCell) -> str:
    """A check cell's source without its expected values."""
    try:
        return strip(check.source)
    except SyntaxError as error:
        # Another course's asserts may stand beside magics; there is nothing to remove.
        if not re.search(r"\bexpect\b", check.source):
            return check.source
        raise CourseError(
            f"cell {check.grade_id!r}: the check is no plain Python (line {error.lineno})"
        ) from error


def _texts(original: MasterCell) -> set[str]:
    """What an untouched copy of a cell reads like; an empty text says nothing."""
    return {_text(original.release), _text(original.source)} - {""}


def _text(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _function(answer: MasterCell) -> str:
    """The name of the function that an answer cell defines; '' where its id tells none."""
    name = answer.grade_id.removesuffix(ANSWER_SUFFIX)
    return name if name != answer.grade_id and name.isidentifier() else ""
