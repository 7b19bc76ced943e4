"""What ``check()`` shows: how far it is, what was not saved, and the exercises in a table."""

from __future__ import annotations

import html
import re
from typing import Any

from autograder.progress import Progress

from .markup import rich

_NOTICE = (
    "border-left:4px solid #8a6d00;padding:.4em .8em;margin:.3em 0;background:#fff6d6;color:#222;"
    "line-height:1.45;overflow-wrap:anywhere"
)
_CODE = "background:#efe3b4;color:#222;padding:0 .25em;border-radius:3px"
_CELL = "text-align:left;vertical-align:top;padding:.3em .8em .3em 0;white-space:normal"
_SHORT = _CELL.replace("normal", "nowrap")

VISIBLE_ONLY = (
    "Only the checks that you can see in the notebook were run: {why}. Your marks come from your "
    "instructor, whose hidden tests use other numbers and shapes, and count in the end."
)


class Line:
    """One line of text, which will be replaced."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        # "status": a screen reader reads it out when it appears.
        return f'<p role="status">{rich(self._text)}</p>'


class Unsaved:
    """Says that the file is not what was run. ``cells`` are named as in a sentence."""

    def __init__(self, cells: list[str]) -> None:
        named = ", ".join(cells[:3]) + (f" and {len(cells) - 3} more" if len(cells) > 3 else "")
        one = len(cells) == 1
        self._text = (
            f"Not saved since you ran {'the cell' if one else 'the cells'} of {named}: the file "
            f"still holds the text from before. What follows is about the file. Save (Ctrl+S, on a "
            "Mac Cmd+S), then run this cell again."
        )

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f'<div role="alert" style="{_NOTICE}">{rich(self._text, _CODE)}</div>'


class Table:
    """The result as a table, and as plain text where HTML isn't shown.

    Args:
        result: what ``autograder check --json`` wrote.
        before: what is remembered from earlier checks.
    """

    def __init__(self, result: dict[str, Any], before: Progress) -> None:
        self._result = result
        self._rows: list[dict[str, Any]] = result["exercises"]
        self._before = set(before.passed)

    def __repr__(self) -> str:
        lines = []
        for row in self._rows:
            mark = "✓" if row["verdict"] == "passed" else "✗"
            says = f". {row['message']}" if row["message"] else ""
            name = row["title"] or row["id"]
            lines.append(f"{mark} {name}: {self._verdict(row)}, {self._points(row)}{says}")
        return "\n".join([*lines, self._total(), *self._after()])

    def _repr_html_(self) -> str:
        heads = ("Result", "Exercise", "Points", "What the checks say")
        head = "".join(f'<th scope="col" style="{_SHORT}">{text}</th>' for text in heads)
        rows = "".join(map(self._row_as_html, self._rows))
        after = "".join(f"<p>{rich(text)}</p>" for text in self._after())
        return (
            f'<table style="margin-left:0"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
            f'</table><p role="status"><b>{self._total()}</b></p>{after}'
        )

    def _row_as_html(self, row: dict[str, Any]) -> str:
        passed = row["verdict"] == "passed"
        hint = f" <i>Stuck? Open hint {row['hint']}.</i>" if row["hint"] and not passed else ""
        says = f"{rich(row['message'])}{hint}{_solution(row)}"
        return (
            f'<tr><td style="{_SHORT}">{"✓ " if passed else ""}{self._verdict(row)}</td>'
            f'<td style="{_CELL};min-width:13em">{_link(row)}</td>'
            f'<td style="{_SHORT}">{self._points(row)}</td><td style="{_CELL}">{says}</td></tr>'
        )

    def _verdict(self, row: dict[str, Any]) -> str:
        verdict = str(row["verdict"]).replace("failed", "not yet")
        again = row["verdict"] != "passed" and row["id"] in self._before
        return f"{verdict} (passed before)" if again else verdict

    def _points(self, row: dict[str, Any]) -> str:
        if row["points"] is None:
            return f"of {row['max_points']:g}"
        return f"{row['points']:g} of {row['max_points']:g}"

    def _total(self) -> str:
        if self._result["hidden"]:
            return f"{self._result['score']:g} of {self._result['max_score']:g} points"
        passed = sum(row["verdict"] == "passed" for row in self._rows)
        return f"{passed} of {len(self._rows)} visible checks pass"

    def _after(self) -> list[str]:
        notes = [f"Note: {note}." for note in self._result["notes"]]
        if not self._result["hidden"]:
            notes.append(VISIBLE_ONLY.format(why=self._result["why_not"]))
        return notes


def _link(row: dict[str, Any]) -> str:
    """The exercise's title, which leads to its heading. Where it can't, a click does nothing."""
    if not row["heading"]:
        return f"<code>{html.escape(row['id'])}</code>"
    # As Jupyter makes a heading's anchor: its text, with - for spaces.
    anchor = re.sub(r"[`*]", "", row["heading"]).replace(" ", "-")
    return f'<a href="#{html.escape(anchor)}">{rich(row["title"])}</a>'


def _solution(row: dict[str, Any]) -> str:
    solution = row.get("solution")
    if not solution:
        return ""
    why = f"<p>Why: {rich(solution['why'])}</p>" if solution["why"] else ""
    return (
        "<details><summary>The lesson's own solution</summary>"
        f"<pre><code>{html.escape(solution['code'])}</code></pre>{why}</details>"
    )
