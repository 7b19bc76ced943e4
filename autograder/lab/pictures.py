"""Pictures computed from a run: order of events, values and gradients on the graph, bars.

Every number and every row in a picture comes from torch. Blue is the way forward, vermilion
the way back; solid and dashed lines say the same without colour.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from autograder.lab.timeline import LANES, Event, number
from autograder.lab.values import run_values

if TYPE_CHECKING:
    from autograder.lab.figure import Picture

Point = tuple[float, float]

__all__ = [
    "draw_before_after",
    "draw_model_graph",
    "draw_timeline",
    "draw_values",
    "timeline_steps",
    "write_values",
]


def draw_timeline(events: Sequence[Event], *, marked: bool = False) -> Picture:
    """Draw recorded events as a table: time runs down, one column for each place.

    Args:
        events: what `record_timeline` returned (any events on its lanes).
        marked: put a mark on every row, for `timeline_steps` to choose from.

    Returns:
        A figure; as the last line of a cell it is shown. Its ``alt`` says the same in words.

    Raises:
        ValueError: when there is nothing to draw, or an event names an unknown lane.
    """
    from autograder.lab.figure import BACK, FORWARD, INK, MUTED, NOW
    from autograder.lab.figure import picture as new_picture

    unknown = [event.lane for event in events if event.lane not in LANES]
    if not events or unknown:
        raise ValueError(
            f"unknown lane {unknown[0]!r}" if unknown else "there are no events to draw"
        )
    row, top = 0.37, 0.66
    columns = dict(zip(LANES, (0.95, 2.85, 4.3, 6.65, 9.3), strict=True))
    width, height = 11.35, top + row * len(events) + 0.15
    picture = new_picture(width, height)
    line_of = [height - top - row * (i + 0.5) for i in range(len(events))]
    turn = next((i for i, e in enumerate(events) if e.name == "output.backward()"), len(events))

    for start, end, colour, word in ((0, turn, FORWARD, "forward"), (turn, None, BACK, "backward")):
        lines = line_of[start:end]
        if lines:
            middle, span = (lines[0] + lines[-1]) / 2, lines[0] - lines[-1] + row - 0.06
            picture.box(
                width / 2, middle, width - 0.3, span, facecolor=colour, alpha=0.07, linewidth=0
            )
            picture.write(0.4, middle, word, rotation=90, color=colour, weight="bold")
    for lane, x in columns.items():
        picture.write(x - 0.12, height - 0.38, lane, weight="bold", ha="left", size=13)
        picture.page.plot([x, x], [0.15, height - top], color=MUTED, alpha=0.3, lw=1, zorder=1)

    spots = [(columns[event.lane], y) for event, y in zip(events, line_of, strict=True)]
    # The parts of an event are in groups of its name: `timeline_steps` looks for them.
    for place, ((x, y), (next_x, next_y)) in enumerate(pairwise(spots), start=2):
        # Down, across, down: the step crosses between two rows, where no words stand.
        half = (y + next_y) / 2
        way = [x, x, next_x, next_x], [y, half, half, next_y]
        picture.page.plot(*way, color=MUTED, lw=1.2, gid=f"event-{place}")
    for place, (event, (x, y)) in enumerate(zip(events, spots, strict=True), start=1):
        group = {"gid": f"event-{place}"}
        if marked:
            picture.box(
                width / 2 + 0.2, y, width - 0.8, row - 0.03, gid=f"mark-{place}",
                facecolor=NOW, edgecolor=INK, linewidth=1, zorder=1.5,
            )  # fmt: skip
        colour = INK if event.lane == "you" else FORWARD if place <= turn else BACK
        picture.page.plot([x], [y], "o", ms=17, color=colour, zorder=3, **group)
        white = {"color": "white", "size": 10, "weight": "bold", "zorder": 4}
        picture.write(x, y - 0.008, str(place), **white, **group)
        picture.write(x + 0.17, y - 0.008, event.name, ha="left", zorder=2, **group)
    picture.alt = f"Order of events. {_in_order(events)}."
    return picture


def _in_order(events: Sequence[Event]) -> str:
    return "; ".join(f"{place}. {event}" for place, event in enumerate(events, start=1))


def timeline_steps(events: Sequence[Event]) -> Iterator[str]:
    """The timeline as markup once for each event: that one marked, later ones not there yet.

    It is drawn only once, so that a step takes no time.
    """
    picture = draw_timeline(events, marked=True)
    whole = picture.svg()
    groups = [
        (kind, place, f'<g id="{kind}-{place}">')
        for kind in ("event", "mark")
        for place in range(1, len(events) + 1)
    ]
    for now in range(1, len(events) + 1):
        step = whole
        for kind, place, opening in groups:
            if place > now or (kind == "mark" and place != now):
                step = step.replace(opening, '<g visibility="hidden">')
            else:
                step = step.replace(opening, f'<g class="{kind}-{place}">')  # an id is given once
        so_far = f"Order of events so far. {_in_order(events[:now])}."
        yield step.replace(html.escape(picture.alt), html.escape(so_far), 1)


def draw_model_graph(model: nn.Module, x1: float | Tensor, x2: float | Tensor) -> Picture:
    """Run the model once; draw its graph with the values and the gradients of that run.

    Args:
        model: a module that computes ``x1 * x2 * W``, with a parameter ``W`` of shape (1,).
            Its ``W.grad`` is put back afterwards.
        x1, x2: numbers or tensors of shape (1,). They are copied.

    Returns:
        A figure: values in blue going forward, gradients in vermilion coming back.

    Raises:
        WrongModel: when the model has no parameter ``W`` or computes something else.
    """
    return draw_values(run_values(model, x1, x2), type(model).__name__)


def draw_values(run: Mapping[str, tuple[float, float]], title: str) -> Picture:
    """Draw the graph of ``x1 * x2 * W`` with what `run_values` returned for it.

    Args:
        run: (value, gradient) for each of "x1", "x2", "product", "W" and "output".
        title: the name of the module.

    Returns:
        A figure: values in blue going forward, gradients in vermilion coming back.
    """
    from autograder.lab.figure import BACK, CARD, DASHES, FORWARD, INK, MUTED
    from autograder.lab.figure import picture as new_picture

    picture = new_picture(10.4, 4.6)
    picture.box(5.0, 2.6, 5.2, 3.1, facecolor=INK, alpha=0.05, linewidth=0)
    picture.write(2.6, 3.9, title, ha="left", weight="bold", color=MUTED)

    # name: start, end, where the value and the gradient are written
    edges: dict[str, tuple[Point, Point, Point, Point]] = {
        "x1": ((1.58, 3.26), (3.46, 2.66), (2.5, 3.22), (2.42, 2.66)),
        "x2": ((1.58, 1.74), (3.46, 2.34), (2.42, 2.31), (2.5, 1.77)),
        "product": ((4.06, 2.5), (5.84, 2.5), (4.95, 2.81), (4.95, 2.19)),
        "W": ((6.2, 3.5), (6.2, 2.86), (6.38, 3.2), (6.02, 3.2)),
        "output": ((6.56, 2.5), (8.5, 2.5), (7.1, 2.81), (7.1, 2.19)),
    }
    # Long numbers grow away from the arrow that they stand at.
    grows = {"x1": ("left", "right"), "x2": ("right", "left"), "W": ("left", "right")}
    for name, (start, end, at_value, at_gradient) in edges.items():
        picture.arrow(start, end, FORWARD, "solid")
        picture.arrow(end, start, BACK, DASHES)
        sides = grows.get(name, ("center", "center"))
        for spot, kind, colour, side in (
            (at_value, "value", FORWARD, sides[0]),
            (at_gradient, "gradient", BACK, sides[1]),
        ):
            look = {"color": colour, "size": 14, "weight": "bold", "ha": side}
            picture.label(f"{kind} {name}", *spot, **look)
    for name, x, y, width in (
        ("x1", 1.1, 3.4, 0.86), ("x2", 1.1, 1.6, 0.86), ("W", 6.2, 3.78, 0.86),
        ("output", 9.2, 2.5, 1.3),
    ):  # fmt: skip
        picture.box(x, y, width, 0.54, facecolor=CARD, edgecolor=INK, zorder=3)
        picture.write(x, y - 0.01, name, size=14, weight="bold", zorder=4)
    for x in (3.75, 6.2):
        picture.page.plot([x], [2.5], "o", ms=36, color=CARD, mec=INK, mew=1.4, zorder=3)
        picture.write(x, 2.49, "×", size=20, zorder=4)

    # The names that a hook's parameters have for what passes the border of the module.
    picture.label("input", 0.67, 3.95, color=FORWARD, ha="left")
    picture.label("grad_input", 0.67, 0.9, color=BACK, ha="left")
    picture.label("output", 9.0, 3.05, color=FORWARD)
    picture.label("grad_output", 9.0, 1.95, color=BACK)
    for x, colour, line, words in (
        (2.6, FORWARD, "solid", "value, going forward"),
        (5.5, BACK, DASHES, "gradient, coming back"),
    ):
        picture.page.plot([x, x + 0.45], [0.4, 0.4], color=colour, lw=2, ls=line)
        picture.write(x + 0.58, 0.39, words, color=colour, ha="left")

    write_values(picture, run)
    return picture


def write_values(picture: Picture, run: Mapping[str, tuple[float, float]]) -> None:
    """Write the numbers of another run into a picture of `draw_values`."""
    value = {name: number(numbers[0]) for name, numbers in run.items()}
    back = {name: number(numbers[1]) for name, numbers in run.items()}
    words = {f"value {name}": said for name, said in value.items()}
    words |= {f"gradient {name}": said for name, said in back.items()}
    words["input"] = f"input: ({value['x1']}, {value['x2']})"
    words["grad_input"] = f"grad_input: ({back['x1']}, {back['x2']})"
    words["output"] = f"output: {value['output']}"
    words["grad_output"] = f"grad_output: ({back['output']},)"
    picture.fill(words)
    picture.alt = (
        f"Forward: x1 = {value['x1']} times x2 = {value['x2']} is {value['product']}; "
        f"times W = {value['W']} is output = {value['output']}. "
        f"Gradients coming back: output {back['output']}, W {back['W']}, "
        f"x1 * x2 {back['product']}, x1 {back['x1']}, x2 {back['x2']}."
    )


def draw_before_after(before: Sequence[Any], after: Sequence[Any]) -> Picture:
    """Draw the gradients of x1 and x2 as two pairs of bars, each pair on its own scale.

    Args:
        before, after: two values each (numbers, tensors of shape (1,), or None for "no gradient").

    Returns:
        A figure with the values and their sum written on it.

    Raises:
        ValueError: when a pair hasn't two values.
    """
    from autograder.lab.figure import BACK, INK, MUTED
    from autograder.lab.figure import picture as new_picture

    picture = new_picture(8.0, 3.6)
    picture.page.plot([4.0, 4.0], [0.6, 3.3], color=MUTED, alpha=0.4, lw=1)
    words = []
    for middle, title, pair in ((2.0, "before", before), (6.0, "after", after)):
        if len(pair) != 2:
            raise ValueError(f"{title}: two gradients expected, got {len(pair)} values")
        values = [float("nan") if value is None else float(value) for value in pair]
        labels = ["None" if value is None else number(float(value)) for value in pair]
        total = "unknown" if "None" in labels else number(sum(values))
        picture.write(middle, 3.28, title, size=15, weight="bold")
        # Bars stand on the floor; when one is negative, the floor is in the middle.
        negative = any(value < 0 for value in values)
        floor, room = (1.78, 0.85) if negative else (0.72, 2.0)
        tallest = max([abs(value) for value in values if isfinite(value)] + [1e-30])
        for place, (name, colour, hatch) in enumerate(
            (("x1.grad", BACK, ""), ("x2.grad", "#efb17a", "//"))
        ):
            x = middle + (-0.72, 0.72)[place]
            tall = values[place] / tallest * room if isfinite(values[place]) else 0.0
            picture.page.bar(
                x, tall, 0.8, floor, color=colour, hatch=hatch, edgecolor=INK, linewidth=1.2
            )
            gap = 0.16 if tall >= 0 else -0.16
            picture.write(x, floor + tall + gap, labels[place], size=13, weight="bold")
            picture.write(x, 0.5, name)
        picture.page.plot([middle - 1.4, middle + 1.4], [floor, floor], color=INK, lw=1.2)
        picture.write(middle, 0.21, f"sum: {total}", color=INK, weight="bold")
        words.append(f"{title}: x1.grad {labels[0]}, x2.grad {labels[1]}, sum {total}")
    picture.write(4.0, 0.21, "(each side has its own scale)", size=11)
    picture.alt = "Gradients " + "; ".join(words) + ". Each side has its own scale."
    return picture
