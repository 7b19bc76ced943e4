"""The box that a failed check shows: everything there is to say, said once."""

from __future__ import annotations

import html
import re

from autograder.marking import Outcome, cut, one_line

from .markup import rich

# Background and colour are both given, so that it can be read in a light and in a dark theme.
_INK, _PAPER, _CODE_PAPER = "#222", "#fdf3ec", "#f3e2d6"
_BOX = (
    "border-left:4px solid #b3541e;padding:.4em .8em;margin:.3em 0;overflow-wrap:anywhere;"
    f"background:{_PAPER};color:{_INK};font-size:95%;line-height:1.45"
)
_CODE = (
    f"background:{_CODE_PAPER};color:{_INK};font-family:monospace;white-space:pre-wrap;"
    "padding:0 .25em;border-radius:3px"
)
_SEEN = re.compile(r"(Seen:|Stopped with) (.*)\.", re.S)

# With these, the longest box still fits on a screen.
_LONGEST_TITLE, _LONGEST_SEEN, _LONGEST_SENTENCE = 200, 200, 700


class Box:
    """A failure in words, as HTML and as plain text.

    Args:
        outcome: what became of the value.
        where: the line of the learner's that it stopped at, in words; '' where none is known.
    """

    def __init__(self, outcome: Outcome, where: str = "") -> None:
        what = cut(one_line(outcome.what), _LONGEST_TITLE)
        self._title = f"Not yet: {what}" if what else "Not yet."
        self._seen = cut(outcome.seen, _LONGEST_SEEN)
        self._says = cut(one_line(outcome.says), _LONGEST_SENTENCE)
        self._where = f"Where to look: {where}" if where else ""
        self._hint = f"Stuck? Open hint {outcome.hint} below." if outcome.hint else ""

    def __repr__(self) -> str:
        rows = (self._title, self._seen, self._says, self._where, self._hint)
        return "\n".join(filter(None, rows))

    def _repr_html_(self) -> str:
        rows = (
            f"<b>{rich(self._title, _CODE)}</b>",
            self._seen_as_html(),
            rich(self._says, _CODE),
            rich(self._where, _CODE),
            f"<i>{self._hint}</i>" if self._hint else "",
        )
        # "status": a screen reader reads it out when it appears.
        return f'<div role="status" style="{_BOX}">{"<br>".join(filter(None, rows))}</div>'

    def _seen_as_html(self) -> str:
        found = _SEEN.fullmatch(self._seen)
        if not found:  # cut in the middle, or empty
            return html.escape(self._seen)
        return f'{found[1]} <code style="{_CODE}">{html.escape(found[2])}</code>'
