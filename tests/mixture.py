"""A made-up class whose students mix the answers of the bank and the mutants.

``python -m tests.mixture`` prints what each student of the class of 200 handed in.
"""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classroom import LESSON, NAME, ROOT
from mutants import mutants

from autograder.course import Course, Exercise

BANK = ROOT / "tests" / "answers" / LESSON
TRY_IT = "# Try it"


@dataclass(frozen=True)
class Answer:
    """An answer cell, and where it comes from: a file of the bank, or a mutant's name."""

    origin: str
    source: str


Student = dict[str, Answer]
"""Answers by exercise."""


def make_class(size: int, seed: str, all_right: float = 0.2) -> dict[str, Student]:
    """Students by name, each with an answer to each exercise.

    Args:
        all_right: the share of students with right answers only. To the others the answers are
            dealt like cards, so that in a large class all of them occur.
    """
    dice = random.Random(seed)
    exercises = Course(ROOT).master(LESSON).exercises
    right = {e.id: itertools.cycle(_shuffled(_right(e), dice)) for e in exercises}
    dealt = {
        e.id: itertools.cycle(_shuffled([*_right(e), *_wrong(e), *_mutants(e)], dice))
        for e in exercises
    }
    names = [f"student_{number:03}" for number in range(1, size + 1)]
    best = set(dice.sample(names, round(all_right * size)))
    return {
        name: {e.id: next((right if name in best else dealt)[e.id]) for e in exercises}
        for name in names
    }


def hand_in(course: Path, students: dict[str, Student]) -> None:
    """Write their notebooks, as solved releases, into a course's ``submitted/``."""
    release = (ROOT / "notebooks" / LESSON / f"{NAME}.ipynb").read_text("utf-8")
    for name, answers in students.items():
        notebook: dict[str, Any] = json.loads(release)
        for cell in notebook["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            exercise = grade_id.removesuffix("_answer")
            if exercise != grade_id:
                cell["source"] = answers[exercise].source
        path = course / "submitted" / name / LESSON / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), "utf-8")


def _right(exercise: Exercise) -> list[Answer]:
    return _bank(exercise, "right")


def _wrong(exercise: Exercise) -> list[Answer]:
    return _bank(exercise, "wrong")


def _bank(exercise: Exercise, kind: str) -> list[Answer]:
    paths = sorted((BANK / exercise.id / kind).glob("*.py"))
    return [_answer(exercise, f"{kind}/{p.name}", p.read_text("utf-8")) for p in paths]


def _mutants(exercise: Exercise) -> list[Answer]:
    return [_answer(exercise, f"mutant: {m.name}", m.source) for m in mutants(exercise)]


def _answer(exercise: Exercise, origin: str, source: str) -> Answer:
    assert exercise.answer is not None
    if TRY_IT not in source:
        source += "\n\n" + TRY_IT + exercise.answer.source.partition(TRY_IT)[2]
    return Answer(origin, source)


def _shuffled(answers: list[Answer], dice: random.Random) -> list[Answer]:
    return dice.sample(answers, len(answers))
