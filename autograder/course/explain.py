"""What a learner may read of an exercise: its heading, and once it is passed, its solution."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .master import Exercise, Master, MasterCell
from .notebook import Cell

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.M)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_POINTS = re.compile(r"\s*\([\d.]+ points?\)$")
_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_WHY = "# Why:"


@dataclass(frozen=True)
class Solution:
    """The master's code for an answer cell, without marks and reasons; and the reasons as text."""

    code: str
    why: str


def heading(cells: Sequence[Cell | MasterCell], place: int) -> str:
    """The last heading of the texts above a cell; '' where there is none."""
    for cell in reversed(cells[:place]):
        found = [] if cell.is_code else _HEADING.findall(_FENCED.sub("", cell.source))
        if found:
            return str(found[-1])
    return ""


def heading_of(master: Master, exercise: Exercise) -> str:
    """The heading above an exercise's answer, or above its check where no answer is known."""
    return heading(master.cells, master.cells.index(exercise.answer or exercise.check))


def title(text: str) -> str:
    """A heading without its points: "Exercise 1: look (4 points)" is "Exercise 1: look"."""
    return _POINTS.sub("", text)


def solution(answer: MasterCell) -> Solution:
    """The lines of an answer cell up to the end of its solution, as a learner would write them."""
    code, why = [], []
    inside = reason = False
    lines = answer.source.splitlines()
    ends = [i for i, line in enumerate(lines) if line.strip() == _END]
    for line in lines[: ends[-1] if ends else 0]:
        words = line.strip()
        if words in (_BEGIN, _END):
            inside = words == _BEGIN
        elif inside and words.startswith(_WHY):
            why.append(words.removeprefix(_WHY).strip())
            reason = True
        elif reason and words.startswith("#"):
            why[-1] += f" {words.lstrip('# ')}"
        elif inside or not words.startswith("# TODO"):
            code.append(line)
            reason = False
    return Solution("\n".join(code).strip("\n"), " ".join(why))
