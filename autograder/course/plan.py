"""Rebuilds a trustworthy notebook from a submission: what will run, in which order.

The rule, in one place:

- Given and check cells are the master's, all of them, once, in the master's order.
- A cell of the submission is recognised by its grade_id; where that is missing or unknown, a
  given or check cell by its text, and an answer cell by the function it defines.
- Of an answer that is there more than once, the first cell counts as the answer. The others run
  too, as the learner's own code, where they stand.
- The learner's other code cells run after the cell that they follow in the submission.
- An answer that is missing is put back as the unsolved TODO.

Metadata, tags, outputs, kernelspec and cell types are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .master import ANSWER_SUFFIX, Master, MasterCell
from .notebook import Cell
from .strip import strip

Role = Literal["given", "answer", "own", "check"]


@dataclass(frozen=True)
class PlanCell:
    """A cell to run. ``id`` is its grade_id, or for the learner's own cells ``own_N``."""

    id: str
    role: Role
    source: str


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
            source = strip(source)
        cells.append(PlanCell(cell.grade_id, _role(cell), source))
    return Plan(master.lesson, tuple(cells))


def recognise(cells: Sequence[Cell], masters: Iterable[Master]) -> Master | None:
    """The lesson that a notebook belongs to: the one with most of its cells; None for none."""
    scored = [(_score(cells, master), master) for master in masters]
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def _score(cells: Sequence[Cell], master: Master) -> int:
    # Checks and answers only: set-up cells are alike in all lessons.
    wanted = {cell.grade_id for cell in _code(master) if cell.kind != "given"}
    texts = {_text(cell.release) for cell in _code(master) if cell.kind != "given"}
    hits = {cell.grade_id for cell in cells if cell.grade_id in wanted}
    hits |= {_text(cell.source) for cell in cells if _text(cell.source) in texts}
    names = [name.removesuffix(ANSWER_SUFFIX) for name in wanted if name.endswith(ANSWER_SUFFIX)]
    hits |= {
        name for name in names if any(cell.is_code and _defines(cell.source, name) for cell in cells)
    }
    return len(hits)


def rebuild(master: Master, submission: Sequence[Cell]) -> Plan:
    """The plan for a submission, with every check cell of the master once and in order."""
    known = {cell.grade_id: cell for cell in _code(master)}
    matched = [_match(cell, known) for cell in submission]
    repairs: list[str] = []
    answers = _find_answers(known.values(), submission, matched, repairs)

    own: dict[str, list[PlanCell]] = {}
    anchor = ""
    for place, (cell, original) in enumerate(zip(submission, matched, strict=True)):
        runs = cell.is_code
        if original is not None:
            anchor = original.grade_id
            # Another copy of an answer is the learner's own code, whatever its type became.
            runs = original.kind == "answer" and answers[anchor] != place
            if original.kind != "answer" and not _is(cell, original):
                repairs.append(f"cell {anchor!r} was edited: the original was used")
        if runs and cell.source.strip():
            own.setdefault(anchor, []).append(PlanCell(f"own_{place + 1}", "own", cell.source))

    present = {cell.grade_id for cell in matched if cell is not None}
    cells = own.get("", [])
    for grade_id, original in known.items():
        if grade_id not in present:
            repairs.append(f"cell {grade_id!r} was missing: put back")
        source = original.source
        if grade_id in answers:
            source = submission[answers[grade_id]].source
        elif original.kind == "answer":
            source = original.release
        elif original.kind == "check":
            source = strip(source)
        cells.append(PlanCell(grade_id, _role(original), source))
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
        if not places and answer.grade_id.endswith(ANSWER_SUFFIX):
            name = answer.grade_id.removesuffix(ANSWER_SUFFIX)
            places = [
                i
                for i, cell in enumerate(submission)
                if matched[i] is None and cell.is_code and _defines(cell.source, name)
            ][:1]
        if not places:
            continue
        matched[places[0]] = answer
        answers[answer.grade_id] = places[0]
        if len(places) > 1:
            repairs.append(
                f"cell {answer.grade_id!r} is there {len(places)} times: the first one counts, "
                "the others run as the learner's own code"
            )
    return answers


def _match(cell: Cell, known: dict[str, MasterCell]) -> MasterCell | None:
    if cell.grade_id in known:
        return known[cell.grade_id]
    if not cell.source.strip():
        return None
    return next((original for original in known.values() if _is(cell, original)), None)


def _code(master: Master) -> list[MasterCell]:
    return [cell for cell in master.cells if cell.kind != "prose" and cell.is_code]


def _role(cell: MasterCell) -> Role:
    return "given" if cell.kind == "prose" else cell.kind


def _is(cell: Cell, original: MasterCell) -> bool:
    return _text(cell.source) in (_text(original.release), _text(original.source))


def _text(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _defines(source: str, name: str) -> bool:
    return re.search(rf"^def {re.escape(name)}\s*\(", source, re.M) is not None
