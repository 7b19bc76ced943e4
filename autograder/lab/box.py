"""The box that a failed check shows."""

from __future__ import annotations

import html

from autograder.marking import Outcome

# Background and colour are both given, so that it can be read in a light and in a dark theme.
_BOX = (
    "border-left:4px solid #b3541e;padding:.4em .8em;margin:.3em 0;overflow-wrap:anywhere;"
    "background:#fdf3ec;color:#222;font-size:95%;line-height:1.45"
)
_CODE = "white-space:pre-wrap;background:none;color:#222;font-family:monospace"


class Box:
    """A failure in words: inline styles only, and plain text where HTML isn't shown."""

    def __init__(self, outcome: Outcome) -> None:
        self._what = f"Not yet: {outcome.what}" if outcome.what else ""
        self._seen = outcome.seen
        self._says = outcome.says
        self._hint = f"Stuck? Hint {outcome.hint} below fits." if outcome.hint else ""

    def __repr__(self) -> str:
        return "\n".join(filter(None, (self._what, self._seen, self._says, self._hint)))

    def _repr_html_(self) -> str:
        rows = (
            ("<b>{}</b>", self._what),
            (f'<span style="{_CODE}">{{}}</span>', self._seen),
            ("{}", self._says),
            ("<i>{}</i>", self._hint),
        )
        inside = "<br>".join(tag.format(html.escape(text)) for tag, text in rows if text)
        return f'<div role="status" style="{_BOX}">{inside}</div>'
