"""What a learner may read of an exercise: its heading, and its solution with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course import (
    Cell,
    Course,
    MasterCell,
    Solution,
    heading,
    heading_of,
    solution,
    title,
)

ROOT = Path(__file__).resolve().parent.parent


def texts(*sources: str) -> list[Cell]:
    """Markdown cells, and code where a source begins with >."""
    return [Cell(source.removeprefix(">"), source.startswith(">")) for source in sources]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (texts("## One\ntext", ">code", "## Two ##\n\nmore", ">x"), "Two"),
        (texts("## One", "no heading", ">code", ">x"), "One"),
        (texts("# Big\n### Small `W`\ntext", ">x"), "Small `W`"),
        (texts("## One\n```python\n# a comment\n```", ">x"), "One"),
        (texts("#hashtag", "> ## quoted", ">x"), ""),
        (texts(">## code", ">x"), ""),
        (texts(">x"), ""),
    ],
)
def test_the_last_heading_above_a_cell(cells: list[Cell], expected: str) -> None:
    assert heading(cells, len(cells) - 1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exercise 1: look (4 points)", "Exercise 1: look"),
        ("One (1 point)", "One"),
        ("Half (0.5 points)", "Half"),
        ("Points (why?)", "Points (why?)"),
        ("(4 points) more", "(4 points) more"),
        ("", ""),
    ],
)
def test_a_title_has_no_points(text: str, expected: str) -> None:
    assert title(text) == expected


def answer(source: str) -> Solution:
    return solution(MasterCell("answer", source, "f_answer"))


def test_the_solution_is_code_and_its_comments_are_the_reason() -> None:
    source = """# TODO: double it.
def double(x):
    ### BEGIN SOLUTION
    # Why: twice is
    #   two times.
    y = 2 * x
    # an ordinary comment
    # Why: that is all.
    return y
    ### END SOLUTION


# Try it
double(3)"""
    code = "def double(x):\n    y = 2 * x\n    # an ordinary comment\n    return y"
    assert answer(source) == Solution(code, "twice is two times. that is all.")


def test_several_regions_and_what_stands_between_them() -> None:
    source = "\n".join(
        [
            "### BEGIN SOLUTION",
            "a = 1",
            "### END SOLUTION",
            "# given",
            "b = 2",
            "### BEGIN SOLUTION",
            "# Why: c.",
            "c = 3",
            "### END SOLUTION",
            "d = 4",
        ]
    )
    assert answer(source) == Solution("a = 1\n# given\nb = 2\nc = 3", "c.")
    assert answer("x = 1") == Solution("", "")


@pytest.mark.parametrize("name", Course(ROOT).lessons())
def test_every_exercise_of_every_lesson_has_all_of_it(name: str) -> None:
    master = Course(ROOT).master(name)
    for number, exercise in enumerate(master.exercises, 1):
        assert title(heading_of(master, exercise)).startswith(f"Exercise {number}: ")
        assert exercise.answer
        found = solution(exercise.answer)
        compile(found.code, exercise.id, "exec")
        assert found.code.startswith(f"def {exercise.id}(")
        assert "###" not in found.code
        assert len(found.why) > 40
        assert "#" not in found.why
