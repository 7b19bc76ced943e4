"""Pictures that answer: step through a run, or move its numbers and watch the rest follow.

A cell that ends with `step_through` or `explore` gets two outputs: the still picture, which is
there wherever the notebook is shown, and beside it the widgets, which JupyterLab connects to the
kernel. It would show "Error displaying widget: model not found" in place of the widgets, and
never a picture that stands in the same output, once a saved notebook is opened again. So the
picture has an output of its own, and a rule of style hides it while its widgets live.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from IPython.core.getipython import get_ipython
from IPython.display import display
from torch import nn

from autograder.lab.markup import rich
from autograder.lab.pictures import draw_timeline, draw_values, timeline_steps, write_values
from autograder.lab.timeline import (
    TENSORS,
    Event,
    WrongModel,
    number,
    parameter_w,
    record_timeline,
)
from autograder.lab.values import run_values

if TYPE_CHECKING:
    from autograder.lab.figure import Picture

__all__ = ["Explorer", "Steps", "explore", "step_through"]

_AGAIN = "Run this cell to bring the buttons and sliders back."
_LOST = ".jp-OutputArea-child:has(.hooks-still) + * > .jp-OutputArea-output:not(:has(*))"
_STYLE = f"""<style>
.jp-OutputArea-child:has(.hooks-still):has(+ .jp-OutputArea-child .hooks-live) {{display: none}}
{_LOST} {{font-size: 0}}
{_LOST}::after {{content: "{_AGAIN}"; font-size: var(--jp-ui-font-size1, 13px)}}
</style>"""
_WIDGETS = "application/vnd.jupyter.widget-view+json"

# What stands for a model: a class of the lesson, or any function that makes a module.
Maker = Callable[[], nn.Module]


def step_through(model: Maker, x1: float = 2.0, x2: float = 3.0) -> Steps | Sorry:
    """Run a model forward and backward once; step through what happened, event by event.

    Args:
        model: a class like the lesson's ``Model``, with a parameter ``W`` of shape (1,).
        x1, x2: its inputs.

    Returns:
        What the cell shows as its last line. Where the model can't be run: one sentence.
    """
    try:
        return Steps(record_timeline(_made(model), x1, x2))
    except Exception as error:  # the learner's class may do anything
        return Sorry(error)


def explore(
    model: Maker, x1: float = 2.0, x2: float = 3.0, grad_output: float | None = None
) -> Explorer | Sorry:
    """Run a model that computes ``x1 * x2 * W``; move its numbers, and it is run again.

    Args:
        model: a class like the lesson's ``Model``, with a parameter ``W`` of shape (1,).
        x1, x2: where its inputs start.
        grad_output: where the gradient that comes in from behind starts. None: it isn't among
            the numbers to move; ``backward()`` is called without one.

    Returns:
        What the cell shows as its last line. Where the model can't be run: one sentence.
    """
    try:
        return Explorer(_made(model), x1, x2, grad_output)
    except Exception as error:  # the learner's class may do anything
        return Sorry(error)


def _made(model: Maker) -> nn.Module:
    if isinstance(model, nn.Module) or not callable(model):
        raise _NotAClass
    return model()


class _NotAClass(Exception):
    """An object was given in place of the class that makes it."""


class Sorry:
    """What a cell shows instead of a picture: one sentence or two."""

    def __init__(self, error: Exception) -> None:
        if isinstance(error, _NotAClass):
            self._says = "This picture needs the class itself: write `Model`, without brackets."
            return
        why = str(error)
        if not isinstance(error, WrongModel):
            first = (why.strip().splitlines() or ["no message"])[0].rstrip(".")
            why = f"running the model stopped with {type(error).__name__}: {first}"
        self._says = (
            f"This picture can't be drawn: {why}. Run the cell that begins with `class Model` "
            "again, as the lesson gives it, and then this one."
        )

    def __repr__(self) -> str:
        return self._says

    def _repr_html_(self) -> str:
        return f'<p role="status">{rich(self._says)}</p>'


class _Live:
    """A still picture, and the widgets that make it move where there are any.

    Attributes:
        still: the picture that is shown where widgets don't run.
        panel: the widget that holds all others; None where widgets don't run.
    """

    def __init__(self, still: Picture, invitation: str) -> None:
        self.still = still
        self._invitation = invitation
        self.panel: Any = self._build() if _widgets_run() else None

    def _build(self) -> Any:
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        bundle = self.still._repr_mimebundle_()
        if "text/html" not in bundle:
            display(bundle, raw=True)
            return
        style = _STYLE if self.panel else ""
        bundle["text/html"] = f'<div class="hooks-still">{style}{bundle["text/html"]}</div>'
        display(bundle, raw=True)
        if self.panel:
            _close_earlier(self)
            view = self.panel._repr_mimebundle_()[_WIDGETS]
            words = f"<p><small>{html.escape(self._invitation)}</small></p>"
            bundle = {_WIDGETS: view, "text/html": words, "text/plain": self._invitation}
            display(bundle, raw=True)

    def close(self) -> None:
        """Take the widgets away, here and in the browser."""
        if self.panel:
            _close(self.panel)


# By kind and cell: the one that is on the page. A cell that is run again replaces its own.
_on_page: dict[tuple[str, str], _Live] = {}


def _close_earlier(new: _Live) -> None:
    parent: dict[str, Any] = getattr(get_ipython(), "get_parent", dict)()
    place = (type(new).__name__, parent.get("metadata", {}).get("cellId", ""))
    earlier = _on_page.get(place)
    _on_page[place] = new
    if earlier and earlier is not new:
        earlier.close()


def _close(widget: Any) -> None:
    for part in (*getattr(widget, "children", ()), widget.layout, getattr(widget, "style", None)):
        if hasattr(part, "layout"):
            _close(part)
        elif part is not None:
            part.close()
    widget.close()


def _widgets_run() -> bool:
    # Neither the engine nor nbgrader's Validate has anybody who would move them.
    if os.environ.get("AUTOGRADER_FIGURES") == "0" or "NBGRADER_EXECUTION" in os.environ:
        return False
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True


class Steps(_Live):
    """A recorded run, one event at a time.

    Attributes:
        events: what happened, in order.
        step: the number field that holds the place in it, from 1.
        words: the HTML that says what happens at this step.
        picture: the HTML with the timeline up to this step.
    """

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        super().__init__(
            draw_timeline(events),
            "In JupyterLab, run this cell: there you can step through the picture.",
        )

    def _build(self) -> Any:
        import ipywidgets as w

        self._drawn = list(timeline_steps(self.events))
        last = len(self.events)
        self.back = w.Button(description="◀ Back", tooltip="One step back")
        self.next = w.Button(description="Next ▶", tooltip="One step on", button_style="primary")
        self.step = w.BoundedIntText(
            description="Step", min=1, max=last, value=1, layout={"width": "110px"},
            style={"description_width": "40px"},
        )  # fmt: skip
        self.slider = w.IntSlider(
            min=1, max=last, value=1, readout=False, tooltip="Step",
            layout={"flex": "1 1 140px", "width": "auto"},
        )  # fmt: skip
        w.link((self.slider, "value"), (self.step, "value"))
        self.words, self.picture = w.HTML(), w.HTML()
        self.back.on_click(lambda _: self._go(-1))
        self.next.on_click(lambda _: self._go(1))
        self.step.observe(lambda _: self._show(), "value")
        self._show()
        controls = w.HBox(
            [self.back, self.next, self.step, self.slider],
            layout={"flex_flow": "row wrap", "max_width": "817px"},
        )
        return _panel(controls, self.words, self.picture)

    def _go(self, steps: int) -> None:
        self.step.value += steps  # the field itself stays within its bounds

    def _show(self) -> None:
        place = self.step.value - 1
        self.words.value = self._says(place)
        self.picture.value = self._drawn[place]

    def _says(self, place: int) -> str:
        event = self.events[place]
        handed = f"It is handed <code>{html.escape(event.handed)}</code>." if event.handed else ""
        return (
            f'<div role="status" style="{_WORDS}"><b>{place + 1} of {len(self.events)}.</b> '
            f"{_who(event)} {handed}</div>{_table(event, self.events[max(place - 1, 0)])}"
        )


_WORDS = "line-height:1.5;min-height:3em;max-width:817px"


def _who(event: Event) -> str:
    name = html.escape(event.name)
    if event.lane == "you":
        return f"You: <code>{name}</code>."
    if event.name == "forward":
        return "The module computes: <code>forward</code> runs."
    if event.name.startswith("tensor hook"):
        # On the lane of x1 and x2 the name says itself which of them.
        return f"PyTorch calls the {name}{'' if ' on ' in name else f' on {event.lane}'}."
    place = "the module" if event.lane == "module" else event.lane
    return f"PyTorch calls the <code>{name}</code> of {place}."


def _table(event: Event, before: Event) -> str:
    """What is known by then, as a table; what this event has added stands out."""
    rows = [_row("th", "known by now", [f"<b>{name}</b>" for name in TENSORS])]
    for title, now, then in (
        ("value", event.values, before.values),
        ("gradient, as a hook saw it", event.gradients, before.gradients),
        (".grad", event.grads, before.grads),
    ):
        said = [html.escape(now.get(name, "–")) for name in TENSORS]
        new = [now.get(name) != then.get(name) for name in TENSORS]
        pairs = zip(said, new, strict=True)
        rows.append(
            _row("td", title, [f"<b>{s} ◂ new</b>" if is_new else s for s, is_new in pairs])
        )
    style = "border-collapse:collapse;line-height:1.5"
    return f'<div style="overflow-x:auto"><table style="{style}">{"".join(rows)}</table></div>'


def _row(tag: str, title: str, cells: list[str]) -> str:
    style = "padding:.1em .9em .1em 0;text-align:left;font-weight:normal;white-space:nowrap"
    opening = f'<{tag}{" scope=col" if tag == "th" else ""} style="{style};min-width:3em">'
    inside = "".join(f"{opening}{cell}</{tag}>" for cell in cells)
    return f'<tr><th scope="row" style="{style}">{title}</th>{inside}</tr>'


class Explorer(_Live):
    """A model that is run again, with hooks that look, whenever one of its numbers moves.

    Attributes:
        fields: the number fields, by name: "x1", "x2", "W" and perhaps "grad_output".
        sliders: the sliders beside them.
        values: what `run_values` returned for the numbers that are shown.
        words: the HTML that says what the hooks were handed.
        picture: the HTML with the graph.
    """

    def __init__(
        self, model: nn.Module, x1: float, x2: float, grad_output: float | None = None
    ) -> None:
        self._model = model
        weight = parameter_w(model)
        self._start = {"x1": x1, "x2": x2, "W": weight.item()}
        if grad_output is not None:
            self._start["grad_output"] = grad_output
        self.values = self._run(self._start)
        super().__init__(
            self._draw(), "In JupyterLab, run this cell: there you can move the numbers."
        )

    def _run(self, numbers: dict[str, float]) -> dict[str, tuple[float, float]]:
        with torch.no_grad():
            parameter_w(self._model).fill_(numbers["W"])
        return run_values(self._model, numbers["x1"], numbers["x2"], numbers.get("grad_output"))

    def _draw(self) -> Picture:
        return draw_values(self.values, type(self._model).__name__)

    def _build(self) -> Any:
        import ipywidgets as w

        self.fields, self.sliders = {}, {}
        room = 85 if "grad_output" in self._start else 25  # for the names, in pixels
        for name, start in self._start.items():
            most = max(10.0 if name == "W" else 5.0, abs(start))
            bounds = {"min": -most, "max": most, "step": 0.5, "value": start}
            self.fields[name] = w.BoundedFloatText(
                description=name,
                layout={"width": f"{room + 85}px"},
                style={"description_width": f"{room}px"},
                **bounds,
            )
            self.sliders[name] = w.FloatSlider(
                readout=False,
                # ipywidgets gives a slider's handle no name; the field beside it has one.
                tooltip=name,
                layout={"flex": "1 1 120px", "width": "auto"},
                **bounds,
            )
            w.link((self.sliders[name], "value"), (self.fields[name], "value"))
            self.fields[name].observe(lambda _: self._show(), "value")
        self.reset = w.Button(
            description="Reset", tooltip="Back to the numbers at the start", icon="undo"
        )
        self.reset.on_click(lambda _: self._reset())
        self.words, self.picture = w.HTML(), w.HTML()
        self._quiet = False
        self._drawn = self._draw()
        self._show()
        rows = [
            w.HBox([self.fields[name], self.sliders[name]], layout={"max_width": "600px"})
            for name in self._start
        ]
        return _panel(*rows, self.reset, self.words, self.picture)

    def _reset(self) -> None:
        self._quiet = True
        try:
            for name, start in self._start.items():
                self.fields[name].value = start
        finally:
            self._quiet = False
        self._show()

    def _show(self) -> None:
        if self._quiet:
            return
        try:
            self.values = self._run({name: field.value for name, field in self.fields.items()})
        except Exception as error:  # the learner's class may do anything
            self.words.value, self.picture.value = Sorry(error)._repr_html_(), ""
            return
        self.words.value = self._says()
        write_values(self._drawn, self.values)
        self.picture.value = self._drawn.svg()

    def _says(self) -> str:
        value = {name: number(pair[0]) for name, pair in self.values.items()}
        back = {name: number(pair[1]) for name, pair in self.values.items()}
        return (
            f'<div role="status" style="{_WORDS}">'
            f"Forward: input ({value['x1']}, {value['x2']}), output {value['output']}.<br>"
            f"Backward: grad_output ({back['output']},), grad_input ({back['x1']}, {back['x2']}), "
            f"gradient of W {back['W']}.</div>"
        )


def _panel(*parts: Any) -> Any:
    import ipywidgets as w

    panel = w.VBox(list(parts))
    panel.add_class("hooks-live")
    return panel
