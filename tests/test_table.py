"""What ``check()`` shows, from what the command said."""

from __future__ import annotations

import copy
import html
import re
from pathlib import Path
from typing import Any

from test_expect import contrast

from autograder.lab import table
from autograder.lab.table import Line, Table, Unsaved
from autograder.progress import Progress

NOTHING = Progress(Path("x.ipynb"))
PASSED = {
    "id": "hook",
    "points": 4.0,
    "max_points": 4.0,
    "verdict": "passed",
    "mistake": None,
    "message": "",
    "checked": "value",
    "heading": "Exercise 1: look at `W` & more (4 points)",
    "title": "Exercise 1: look at `W` & more",
    "hint": None,
    "solution": {"code": "def hook(x):\n    return x < 1", "why": "`x` is <small>."},
}
FAILED = {
    "id": "other",
    "points": 0.0,
    "max_points": 6.0,
    "verdict": "failed",
    "mistake": "unchanged",
    "message": "it: Seen: '<b>'. Ask `W`.",
    "checked": "value",
    "heading": "",
    "title": "",
    "hint": 2,
}
RESULT: dict[str, Any] = {
    "lesson": "01",
    "score": 4.0,
    "max_score": 10.0,
    "hidden": True,
    "why_not": "",
    "exercises": [PASSED, FAILED],
    "notes": ["cell 'x' timed out"],
}


def page(result: dict[str, Any], before: Progress = NOTHING) -> str:
    return Table(result, before)._repr_html_()


def rows(shown: str) -> list[str]:
    return re.findall(r"<tr>.*?</tr>", shown, re.S)[1:]


def plain(shown: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown))


def test_a_row_for_each_exercise_and_the_points() -> None:
    shown = page(RESULT)
    passed, failed = rows(shown)
    assert "✓ passed" in passed
    assert "4 of 4" in passed
    assert "not yet" in failed
    assert "✓" not in failed
    assert "0 of 6" in failed
    assert plain(failed).endswith("it: Seen: '<b>'. Ask W. Stuck? Open hint 2.")
    assert "<code>W</code>" in failed
    assert "<b>4 of 10 points</b>" in shown
    assert "Note: cell 'x' timed out." in plain(shown)


def test_a_title_leads_to_its_heading_as_jupyter_names_it() -> None:
    passed, failed = rows(page(RESULT))
    assert '<a href="#Exercise-1:-look-at-W-&amp;-more-(4-points)">' in passed
    assert "Exercise 1: look at <code>W</code> &amp; more</a>" in passed
    assert "<a " not in failed
    assert "<code>other</code>" in failed


def test_a_solution_can_be_opened_where_the_exercise_is_passed() -> None:
    passed, failed = rows(page(RESULT))
    assert "<details><summary>" in passed
    assert "<pre><code>def hook(x):\n    return x &lt; 1</code></pre>" in passed
    assert "Why: <code>x</code> is &lt;small&gt;." in passed
    assert "<details" not in failed
    assert " open" not in passed


def test_what_passed_before_is_said_where_it_does_not_now() -> None:
    before = Progress(Path("x.ipynb"), "01", ("hook", "other"), ("hook", "other"))
    passed, failed = rows(page(RESULT, before))
    assert "before" not in passed
    assert "not yet (passed before)" in failed
    assert "passed before" not in page(RESULT)
    assert "not yet (passed before)" in repr(Table(RESULT, before))


def test_without_hidden_tests_it_says_what_still_counts() -> None:
    result = copy.deepcopy(RESULT)
    result |= {"score": None, "hidden": False, "why_not": "the masters are not on this machine"}
    for row in result["exercises"]:
        row["points"] = None
    shown = plain(page(result))
    for text in (shown, repr(Table(result, NOTHING))):
        assert "1 of 2 visible checks pass" in text
        assert "the masters are not on this machine" in text
        assert "Your marks come from your instructor" in text
        assert "points" not in text.replace("Points", "").replace("(4 points)", "")
    assert "of 4" in shown


def test_as_plain_text_it_is_a_line_for_each_exercise() -> None:
    assert repr(Table(RESULT, NOTHING)).splitlines() == [
        "✓ Exercise 1: look at `W` & more: passed, 4 of 4",
        "✗ other: not yet, 0 of 6. it: Seen: '<b>'. Ask `W`.",
        "4 of 10 points",
        "Note: cell 'x' timed out.",
    ]


def test_what_was_not_saved_is_named() -> None:
    one, many = Unsaved(["`a<b`"]), Unsaved([f"`{name}`" for name in "abcde"])
    assert repr(one).startswith("Not saved since you ran the cell of `a<b`:")
    assert "the cells of `a`, `b`, `c` and 2 more" in repr(many)
    assert "a&lt;b</code>" in one._repr_html_()
    assert 'role="alert"' in one._repr_html_()


def test_a_screen_reader_is_told_how_far_it_is_and_what_came_out() -> None:
    assert Line("cell 1 of 2")._repr_html_() == '<p role="status">cell 1 of 2</p>'
    assert '<p role="status"><b>4 of 10 points</b></p>' in page(RESULT)


def test_nothing_in_it_needs_a_script_or_a_style_sheet() -> None:
    for shown in (page(RESULT), Unsaved(["`a`"])._repr_html_()):
        assert "<script" not in shown
        assert "class=" not in shown
        assert "onclick" not in shown


def test_colours_are_the_themes_own_or_a_readable_pair() -> None:
    assert "color" not in page(RESULT)
    for style in (table._NOTICE, table._CODE):
        parts = dict(part.split(":", 1) for part in style.split(";"))
        assert contrast(parts["color"], parts["background"]) > 7
