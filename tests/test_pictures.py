"""Pictures say what a run says: order and numbers come from torch, labels can be read."""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import combinations
from xml.etree import ElementTree

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Annotation
from torch import nn

from autograder.lab.pictures import (
    draw_before_after,
    draw_model_graph,
    draw_timeline,
    draw_values,
    timeline_steps,
    write_values,
)
from autograder.lab.timeline import Event, record_timeline
from autograder.lab.values import run_values


class Model(nn.Module):
    def __init__(self, weight: float = 5.0) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.tensor([weight]))

    def forward(self, x1, x2):
        output = x1 * x2
        return output * self.W


def labels(picture: Figure) -> list[tuple[str, object]]:
    """Each text of the picture with the box that its ink needs, in pixels."""
    renderer = FigureCanvasAgg(picture).get_renderer()
    found = [(t.get_text(), t.get_window_extent(renderer)) for a in picture.axes for t in a.texts]
    return [(text, box) for text, box in found if text]


def assert_readable(picture: Figure) -> None:
    page = picture.bbox
    placed = labels(picture)
    for text, box in placed:
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= page.x1 and box.y1 <= page.y1
        assert inside, f"{text!r} leaves the page"
    for (one, a), (two, b) in combinations(placed, 2):
        assert not a.overlaps(b), f"{one!r} and {two!r} overlap"


def words(picture: Figure) -> list[str]:
    return [text for text, _ in labels(picture)]


PICTURES = {
    "timeline": lambda: draw_timeline(record_timeline(Model(), 2, 3)),
    "timeline, marked": lambda: draw_timeline(record_timeline(Model(), 2, 3), marked=True),
    "graph": lambda: draw_model_graph(Model(), 2, 3),
    "graph, long numbers": lambda: draw_model_graph(Model(-12.34), -2.3456, 1234.567),
    "bars": lambda: draw_before_after((15, 10), (0.6, 0.4)),
    "bars, unchanged": lambda: draw_before_after((15, 10), (15, 10)),
    "bars, negative": lambda: draw_before_after((-15, 10), (3, -2)),
    "bars, both negative": lambda: draw_before_after((-15, -10), (0.6, 0.4)),
    "bars, lost": lambda: draw_before_after((15, 10), (None, float("inf"))),
    "bars, zero": lambda: draw_before_after((0, 0), (0, float("nan"))),
}


def recorded_by_hand() -> list[str]:
    """The same run written out, without any code of the course."""
    log: list[str] = []

    class Talking(Model):
        def forward(self, x1, x2):
            log.append("module: forward")
            return super().forward(x1, x2)

    def say(what: str):
        return lambda *_: log.append(what)

    model = Talking()
    x1 = torch.tensor([2.0], requires_grad=True)
    x2 = torch.tensor([3.0], requires_grad=True)
    x2.register_hook(say("x1, x2: tensor hook on x2"))
    x1.register_hook(say("x1, x2: tensor hook on x1"))
    model.W.register_post_accumulate_grad_hook(say("W: post_accumulate_grad_hook"))
    model.W.register_hook(say("W: tensor hook"))
    model.register_full_backward_hook(say("module: full_backward_hook"))
    model.register_full_backward_pre_hook(say("module: full_backward_pre_hook"))
    model.register_forward_hook(say("module: forward_hook"))
    model.register_forward_pre_hook(say("module: forward_pre_hook"))
    # A list's append returns None, so none of these hooks replaces anything.
    log.append("you: model(x1, x2)")
    output = model(x1, x2)
    output.register_hook(say("output: tensor hook"))
    log.append("you: output.backward()")
    output.backward()
    log.append("you: backward() is done")
    return log


def test_events_come_in_torchs_order() -> None:
    events = record_timeline(Model(), 2.0, 3.0)
    assert [str(event) for event in events] == recorded_by_hand()
    assert len(events) == 13


def test_a_model_that_runs_otherwise_gives_other_events() -> None:
    class NoUseOfW(Model):
        def forward(self, x1, x2):
            return x1 + x2

    names = [event.lane for event in record_timeline(NoUseOfW(), 2, 3)]
    assert "W" not in names, "W takes no part, so no hook on W may be reported"


@pytest.mark.parametrize("fails", [False, True])
def test_recording_leaves_nothing_behind(fails: bool) -> None:
    class Stumbling(Model):
        def forward(self, x1, x2):
            if fails:
                raise RuntimeError("stumbled")
            return super().forward(x1, x2)

    model = Stumbling()
    model.W.grad = torch.tensor([7.0])
    x1 = torch.tensor([2.0], requires_grad=True)
    state = torch.get_rng_state()
    before = {name: value for name, value in vars(model).items() if "hook" not in name}
    if fails:
        with pytest.raises(RuntimeError, match="stumbled"):
            record_timeline(model, x1, 3.0)
    else:
        record_timeline(model, x1, 3.0)
    after = {name: value for name, value in vars(model).items() if "hook" not in name}
    assert after == before, "an attribute is left on the model"
    hooks = [value for name, value in vars(model).items() if "hooks" in name]
    assert not any(hooks), "a hook is left on the model"
    assert not model.W._backward_hooks
    assert model.W.grad.item() == 7.0
    assert x1.grad is None and not x1._backward_hooks
    assert torch.equal(torch.get_rng_state(), state)


def test_timeline_shows_every_event_once_in_its_row() -> None:
    events = record_timeline(Model(), 2, 3)
    shown = labels(draw_timeline(events))
    tops = {text: box.y0 for text, box in shown}
    numbers = [tops[str(number)] for number in range(1, len(events) + 1)]
    assert numbers == sorted(numbers, reverse=True), "time runs down"
    rows = [(str(number), event.name) for number, event in enumerate(events, start=1)]
    for number, name in rows:
        middle = next((box.y0 + box.y1) / 2 for text, box in shown if text == number)
        beside = [text for text, box in shown if box.y0 < middle < box.y1 and box.height < 30]
        assert beside == [number, name]


def test_a_step_shows_what_has_happened_and_marks_the_last() -> None:
    events = record_timeline(Model(), 2, 3)
    steps = list(timeline_steps(events))
    assert len(steps) == len(events)
    for now, step in enumerate(steps, start=1):
        groups = ElementTree.fromstring(step.replace("xlink:", "")).iter()
        shown = [group.get("class", "") for group in groups if group.tag.endswith("}g")]
        # For each event its dot, its number and its name, and the way that leads to it.
        assert shown.count("event-1") == 3
        assert all(shown.count(f"event-{place}") == 4 for place in range(2, now + 1))
        assert {name for name in shown if name} == {
            f"mark-{now}",
            *(f"event-{place}" for place in range(1, now + 1)),
        }
        assert f"so far. {'; '.join(f'{i}. {e}' for i, e in enumerate(events[:now], 1))}." in step


def test_a_mark_is_behind_its_event_and_beside_the_words_forward_and_backward() -> None:
    picture = draw_timeline(record_timeline(Model(), 2, 3), marked=True)
    renderer = FigureCanvasAgg(picture).get_renderer()
    shown = dict(labels(picture))
    upright = [box for _, box in labels(picture) if box.height > 2 * box.width]
    assert len(upright) == 2
    marks = [patch for patch in picture.page.patches if patch.get_gid()]
    assert [mark.get_gid() for mark in marks] == [f"mark-{place}" for place in range(1, 14)]
    for place, mark in enumerate(marks, start=1):
        box, dot = mark.get_window_extent(renderer), shown[str(place)]
        assert box.y0 < dot.y0 and dot.y1 < box.y1
        assert not any(map(box.overlaps, upright))


def test_other_numbers_are_written_into_the_same_picture() -> None:
    picture = draw_values(run_values(Model(), 2, 3), "Model")
    write_values(picture, run_values(Model(-4.0), 1.5, 2.5))
    fresh = draw_model_graph(Model(-4.0), 1.5, 2.5)
    assert sorted(words(picture)) == sorted(words(fresh))
    assert picture.alt == fresh.alt


@pytest.mark.parametrize("numbers", [(2, 3, 5), (-4.5, -4.5, -9.5), (-1234.567, 0.5, -12.34)])
@pytest.mark.parametrize("grad_output", [1, -2.5])
def test_numbers_stand_beside_the_arrows(
    numbers: tuple[float, float, float], grad_output: float
) -> None:
    x1, x2, weight = numbers
    picture = draw_values(run_values(Model(float(weight)), x1, x2, grad_output), "Model")
    assert_readable(picture)
    arrows = [text for text in picture.page.texts if isinstance(text, Annotation)]
    assert len(arrows) == 10
    for arrow in arrows:
        line = picture.page.transData.transform_path(Path([arrow.xyann, arrow.xy]))
        for text, box in labels(picture):
            assert not line.intersects_bbox(box, filled=False), f"an arrow runs through {text!r}"


def test_the_drawing_in_a_page_is_the_picture() -> None:
    picture = draw_model_graph(Model(), 2, 3)
    drawing = picture.svg()
    root = ElementTree.fromstring(drawing.replace("xlink:", ""))
    (svg,) = root
    assert svg.get("role") == "img" and svg.get("aria-label") == picture.alt
    assert svg.get("viewBox") == f"0 0 {picture.bbox.width:g} {picture.bbox.height:g}"
    assert "<script" not in drawing and "<text" not in drawing, "words are shapes"


def test_graph_shows_the_numbers_of_the_run() -> None:
    model = Model(-4.0)
    x1 = torch.tensor([1.5], requires_grad=True)
    x2 = torch.tensor([2.5], requires_grad=True)
    seen = run_values(model, x1, x2)
    assert x1.grad is None and model.W.grad is None, "the picture wrote into its inputs"
    output = model(x1, x2)
    output.retain_grad()
    output.backward()
    for name, tensor in (("x1", x1), ("x2", x2), ("W", model.W), ("output", output)):
        assert seen[name] == (tensor.item(), tensor.grad.item())
    assert seen["product"] == (3.75, -4.0)

    shown = words(draw_model_graph(model, x1, x2))
    for number in ("1.5", "2.5", "3.75", "-4", "-15", "-10", "-6", "1"):
        assert number in shown
    assert "grad_input: (-10, -6)" in shown
    assert draw_model_graph(model, x1, x2).alt.startswith("Forward: x1 = 1.5 times x2 = 2.5")


def test_bars_have_the_heights_of_the_values() -> None:
    picture = draw_before_after(
        (torch.tensor([15.0]), torch.tensor([10.0])), (torch.tensor([0.6]), torch.tensor([0.4]))
    )
    tall = [bar.get_height() for group in picture.axes[0].containers for bar in group]
    assert tall[0] / tall[1] == pytest.approx(1.5)
    assert tall[2] / tall[3] == pytest.approx(1.5)
    shown = words(picture)
    assert {"15", "10", "0.6", "0.4", "sum: 25", "sum: 1"} <= set(shown)


@pytest.mark.parametrize("name", PICTURES)
def test_labels_neither_overlap_nor_leave_the_page(name: str) -> None:
    assert_readable(PICTURES[name]())


def test_the_overlap_test_can_fail() -> None:
    picture = PICTURES["bars"]()
    picture.write(2.0, 3.28, "on top of another")
    with pytest.raises(AssertionError, match="overlap"):
        assert_readable(picture)


@pytest.mark.parametrize("name", PICTURES)
def test_shown_once_with_words_and_without_leftovers(name: str) -> None:
    import matplotlib.pyplot as plt

    open_before = plt.get_fignums()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = PICTURES[name]()
        shown = picture._repr_mimebundle_()
    assert isinstance(picture, Figure)
    assert plt.get_fignums() == open_before, "pyplot would show the figure a second time"
    assert shown["text/plain"] == picture.alt != ""
    assert 'alt="' in shown["text/html"] and "\n" not in picture.alt
    assert set(shown) == {"text/html", "text/plain"}


def test_a_grader_does_not_wait_for_matplotlib() -> None:
    code = (
        "import sys, autograder.lab.pictures, autograder.lab.timeline; "
        "print([name for name in sys.modules if name.startswith('matplotlib')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # IPython's inline backend is not matplotlib itself.
    assert "'matplotlib'" not in done.stdout


def test_wrong_use_is_said_plainly() -> None:
    with pytest.raises(ValueError, match="parameter called W"):
        record_timeline(nn.ReLU(), 1, 2)
    with pytest.raises(ValueError, match="parameter called W"):
        draw_model_graph(nn.ReLU(), 1, 2)
    with pytest.raises(ValueError, match="no events"):
        draw_timeline([])
    with pytest.raises(ValueError, match="unknown lane 'moon'"):
        draw_timeline([Event("moon", "landing")])
    with pytest.raises(ValueError, match="two gradients"):
        draw_before_after((1, 2, 3), (1, 2))
    model = Model()
    model.register_forward_hook(lambda module, args, output: output + 5)
    with pytest.raises(ValueError, match="no hooks"):
        draw_model_graph(model, 2, 3)
