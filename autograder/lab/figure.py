"""The card that every picture of the course is drawn on.

Only the functions that draw import this module, so that a grader, which never looks at a
picture, doesn't wait for matplotlib.
"""

from __future__ import annotations

import base64
import html
import io
import os
import re
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

__all__ = ["BACK", "CARD", "DASHES", "FORWARD", "INK", "MUTED", "NOW", "Picture"]

# A card of its own keeps the picture readable on a dark page and on a light one. Blue and
# vermilion are told apart with every common kind of colour vision, and differ in lightness too.
CARD = "#fbfbf9"
INK = "#1f2430"
MUTED = "#5b6270"
FORWARD = "#0b5394"
BACK = "#bf4010"
NOW = "#ffe38a"
DASHES = (0, (4, 2))

_DOTS_PER_INCH = 72  # one point is one CSS pixel in the notebook
_SHARPNESS = 2  # image pixels per CSS pixel, for sharp text on good screens
_SMALLEST = 680  # CSS pixels: in a narrow window a picture scrolls before its words get tiny


class Picture(Figure):
    """A matplotlib figure that a notebook shows once, with words for those who can't see it.

    It is made without pyplot: nothing stays open, and no second copy appears below the cell.
    The axes ``self.page`` cover the figure; their units are inches.
    """

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), dpi=_DOTS_PER_INCH, facecolor=CARD)
        self.alt = ""
        """What the picture says, in one line of text."""
        self._labels: dict[str, Text] = {}
        self.page: Axes = self.add_axes((0, 0, 1, 1))
        self.page.set_xlim(0, width)
        self.page.set_ylim(0, height)
        self.page.set_axis_off()

    def write(self, x: float, y: float, words: str, **style: Any) -> Text:
        """Put `words` at (x, y) inches. `style` is passed on to matplotlib's text."""
        plain = {"color": INK, "size": 12, "ha": "center", "va": "center", "family": "DejaVu Sans"}
        return self.page.text(x, y, words, **{**plain, **style})

    def label(self, name: str, x: float, y: float, **style: Any) -> None:
        """Leave room at (x, y) inches for words that `fill` writes there."""
        self._labels[name] = self.write(x, y, "", **style)

    def fill(self, words: Mapping[str, str]) -> None:
        """Write words into the labels, by their names; what was there before goes."""
        for name, text in self._labels.items():
            text.set_text(words[name])

    def box(self, x: float, y: float, width: float, height: float, **style: Any) -> FancyBboxPatch:
        """Draw a box with round corners, its middle at (x, y) inches."""
        shape = FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            **{"boxstyle": "round,pad=0,rounding_size=0.08", "linewidth": 1.4, **style},
        )
        self.page.add_patch(shape)
        return shape

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], colour: str, line: Any
    ) -> None:
        """Draw an arrow a little to the left of the way from `start` to `end`.

        So two arrows, there and back, lie side by side.
        """
        (xa, ya), (xb, yb) = start, end
        length = ((xb - xa) ** 2 + (yb - ya) ** 2) ** 0.5
        x, y = (ya - yb) / length * 0.08, (xb - xa) / length * 0.08
        look = {
            "arrowstyle": "-|>,head_width=0.3,head_length=0.6",
            "color": colour,
            "linestyle": line,
            "linewidth": 1.8,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        self.page.annotate("", (xb + x, yb + y), (xa + x, ya + y), arrowprops=look)

    def svg(self) -> str:
        """The picture as markup, which takes a third of the time that an image takes.

        Words are drawn as shapes: they look the same whatever fonts a machine has.
        """
        stream = io.StringIO()
        self.savefig(stream, format="svg", facecolor=CARD, metadata={"Date": None, "Creator": None})
        picture = stream.getvalue()
        opening = f'<svg role="img" aria-label="{html.escape(self.alt)}" style="{self._style()}" '
        return _scrolling(opening + re.split("<svg ", picture, maxsplit=1)[1])

    def _style(self) -> str:
        width = round(self.get_figwidth() * _DOTS_PER_INCH)
        smallest = min(width, _SMALLEST)
        return (
            f"display:block;width:100%;min-width:{smallest}px;max-width:{width}px;height:auto;"
            "border-radius:6px"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        # JupyterLab drops the alternative text of an image/png output, so the image is wrapped.
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=_DOTS_PER_INCH * _SHARPNESS, facecolor=CARD)
        data = base64.b64encode(stream.getvalue()).decode("ascii")
        image = (
            f'<img alt="{html.escape(self.alt)}" style="{self._style()}" '
            f'src="data:image/png;base64,{data}">'
        )
        return {"text/html": _scrolling(image), "text/plain": self.alt}


def _scrolling(picture: str) -> str:
    return f'<div style="overflow-x:auto">{picture}</div>'


class Unseen:
    """Takes the place of a picture in a grader, where nobody looks: it keeps the words only."""

    def __init__(self) -> None:
        self.alt = ""

    @property
    def page(self) -> Unseen:
        return self

    def _nothing(self, *_: Any, **__: Any) -> None:
        """Drawing takes longer than everything else in a lesson."""

    write = label = fill = box = arrow = plot = bar = _nothing

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.alt}


def picture(width: float, height: float) -> Any:
    """A new :class:`Picture`, or what stands for one while the engine runs without figures."""
    return Unseen() if os.environ.get("AUTOGRADER_FIGURES") == "0" else Picture(width, height)
