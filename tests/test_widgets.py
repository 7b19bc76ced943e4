"""Pictures that answer: what a moved widget shows is what torch says, and none is needed."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ipywidgets
import nbformat
import pytest
import torch
from nbconvert import HTMLExporter
from torch import nn

from autograder.lab import explore, step_through, widgets
from autograder.lab.widgets import Explorer, Sorry, Steps

VIEW = "application/vnd.jupyter.widget-view+json"


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.Tensor([5]))

    def forward(self, x1, x2):
        output = x1 * x2
        return output * self.W


@pytest.fixture(autouse=True)
def _in_a_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a learner's kernel: pictures are drawn, nothing is graded."""
    monkeypatch.delenv("AUTOGRADER_FIGURES", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(widgets, "_on_page", {})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The outputs of the cell, in order."""
    outputs: list[dict[str, Any]] = []
    monkeypatch.setattr(widgets, "display", lambda bundle, raw: outputs.append(bundle))
    return outputs


def stepping() -> Steps:
    made = step_through(Model, 2.0, 3.0)
    assert isinstance(made, Steps)
    return made


def exploring(**options: Any) -> Explorer:
    made = explore(Model, **options)
    assert isinstance(made, Explorer)
    return made


def text(widget: ipywidgets.HTML) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", widget.value)).split())


def label(widget: ipywidgets.HTML) -> str:
    """What a screen reader says of the picture."""
    (said,) = re.findall('role="img" aria-label="([^"]*)"', widget.value)
    return html.unescape(said)


# Stepping


def test_each_step_says_who_runs_with_what_and_shows_it_in_the_picture() -> None:
    steps = stepping()
    assert text(steps.words).startswith("1 of 13. You: model(x1, x2) .")
    for place, event in enumerate(steps.events, start=1):
        assert steps.step.value == place
        assert f"{place} of 13." in text(steps.words)
        assert event.name in text(steps.words)
        assert event.handed in text(steps.words)
        assert label(steps.picture).endswith(f"{place}. {event}.")
        steps.next.click()
    assert steps.step.value == 13, "after the last step there is none"
    steps.back.click()
    assert steps.step.value == 12
    steps.step.value = 1
    steps.back.click()
    assert steps.step.value == 1
    assert label(steps.picture).endswith("so far. 1. you: model(x1, x2).")


def test_the_slider_and_the_field_go_together() -> None:
    steps = stepping()
    steps.slider.value = 8
    assert steps.step.value == 8
    assert "tensor hook on W. It is handed grad = 6" in text(steps.words)
    steps.next.click()
    assert steps.slider.value == 9


def test_every_slider_has_a_tooltip_and_a_field_with_the_same_name_beside_it() -> None:
    steps, explorer = stepping(), exploring(grad_output=1.0)
    assert steps.slider.tooltip == steps.step.description == "Step"
    for name, slider in explorer.sliders.items():
        assert slider.tooltip == explorer.fields[name].description == name


def test_what_hooks_are_handed_is_what_torch_hands_them() -> None:
    handed: dict[str, Any] = {}
    model, x1, x2 = Model(), torch.tensor([2.0]), torch.tensor([3.0])
    x1.requires_grad_(), x2.requires_grad_()
    model.register_full_backward_hook(
        lambda _, grad_input, grad_output: handed.update(input=grad_input, output=grad_output)
    )
    output = model(x1, x2)
    output.backward()
    numbers = tuple(int(grad) for grad in handed["input"])
    by_name = {event.name: event for event in stepping().events}
    assert by_name["full_backward_hook"].handed == (
        f"module, grad_input = {numbers}, grad_output = {(int(handed['output'][0]),)}"
    )
    assert by_name["tensor hook on x1"].handed == f"grad = {x1.grad.item():g}"
    assert by_name["forward_hook"].handed == f"module, input = (2, 3), output = {output.item():g}"


def test_a_value_is_known_from_its_event_on() -> None:
    by_name = {str(event): event for event in stepping().events}
    assert "output" not in by_name["module: forward"].values
    assert by_name["module: forward_hook"].values["output"] == "30"
    inside = by_name["module: full_backward_hook"]
    assert inside.gradients == {"output": "1", "W": "6", "x1": "15", "x2": "10"}
    assert inside.grads == {"x1": "None", "x2": "None", "W": "6"}, "x1.grad comes later"
    assert by_name["you: backward() is done"].grads == {"x1": "15", "x2": "10", "W": "6"}


def test_what_is_new_stands_out() -> None:
    steps = stepping()
    steps.step.value = 4
    assert re.findall("<b>([^<]*◂ new)</b>", steps.words.value) == ["30 ◂ new"]
    steps.step.value = 5
    assert "new" not in text(steps.words)


# Moving numbers


@pytest.mark.parametrize("grad_output", [None, -1.5])
def test_the_picture_follows_and_agrees_with_torch(grad_output: float | None) -> None:
    explorer = exploring(grad_output=grad_output)
    assert list(explorer.fields) == ["x1", "x2", "W"] + ["grad_output"] * (grad_output is not None)
    for numbers in ({"x1": -3.5}, {"x2": 0.5, "W": 7.5}, {"x1": 4.0, "x2": -4.5, "W": -2.0}):
        for name, value in numbers.items():
            explorer.sliders[name].value = value
        now = {name: field.value for name, field in explorer.fields.items()}
        leaves = [torch.tensor([now[name]], requires_grad=True) for name in ("x1", "x2", "W")]
        product = leaves[0] * leaves[1]
        output = product * leaves[2]
        for tensor in (product, output):
            tensor.retain_grad()
        output.backward(None if grad_output is None else torch.tensor([grad_output]))
        tensors = (*leaves, product, output)
        names = ("x1", "x2", "W", "product", "output")
        assert explorer.values == {
            name: (tensor.item(), tensor.grad.item())
            for name, tensor in zip(names, tensors, strict=True)
        }
        x1, x2, weight, _, _ = (f"{tensor.grad.item() + 0.0:.4g}" for tensor in tensors)
        assert f"grad_input ({x1}, {x2}), gradient of W {weight}." in text(explorer.words)
        assert f"x1 = {now['x1']:g} times x2 = {now['x2']:g} is" in label(explorer.picture)
        assert f"W {weight}, " in label(explorer.picture)
        assert f"x1 {x1}, x2 {x2}." in label(explorer.picture)


def test_moving_grad_output_leaves_the_values_alone() -> None:
    explorer = exploring(grad_output=3.0)
    before = explorer.values
    explorer.fields["grad_output"].value = 0.0
    assert {name: pair[0] for name, pair in explorer.values.items()} == {
        name: pair[0] for name, pair in before.items()
    }
    assert {pair[1] for pair in explorer.values.values()} == {0.0}


def test_reset_brings_the_start_back() -> None:
    explorer = exploring(x1=1.5, grad_output=2.0)
    words, picture = explorer.words.value, label(explorer.picture)
    for field in explorer.fields.values():
        field.value = -1.0
    assert (explorer.words.value, label(explorer.picture)) != (words, picture)
    explorer.reset.click()
    assert {name: field.value for name, field in explorer.fields.items()} == {
        "x1": 1.5, "x2": 3.0, "W": 5.0, "grad_output": 2.0,
    }  # fmt: skip
    assert (explorer.words.value, label(explorer.picture)) == (words, picture)


# The learner's class


class NoW(nn.Module):
    def forward(self, x1, x2):
        return x1 * x2


class Adds(Model):
    def forward(self, x1, x2):
        return (x1 + x2) * self.W


class OtherOrder(Model):
    def forward(self, x1, x2):
        return x1 * (x2 * self.W)


class Stops(Model):
    def forward(self, x1, x2):
        return x1 * x3 * self.W  # noqa: F821


class ReturnsNothing(Model):
    def forward(self, x1, x2):
        x1 * x2 * self.W


class NoSuper(nn.Module):
    def __init__(self) -> None:
        self.W = nn.Parameter(torch.tensor([5.0]))


@pytest.mark.parametrize(
    ("show", "model", "why"),
    [
        (explore, NoW, "needs a parameter called W, but W is NoneType"),
        (step_through, NoW, "needs a parameter called W, but W is NoneType"),
        (explore, Adds, "computes x1 * x2 * W and nothing else"),
        (explore, OtherOrder, "computes x1 * x2 * W and nothing else"),
        (explore, Stops, "stopped with NameError: name 'x3' is not defined"),
        (step_through, Stops, "stopped with NameError: name 'x3' is not defined"),
        (step_through, ReturnsNothing, "stopped with AttributeError"),
        (explore, NoSuper, "stopped with AttributeError: cannot assign parameter"),
        (explore, Model(), "needs the class itself"),
        (step_through, None, "needs the class itself"),
    ],
)
@pytest.mark.filterwarnings("ignore:For backward hooks to be called")
def test_a_class_that_cannot_be_shown_gets_a_sentence(
    show: Callable[..., Any], model: Any, why: str
) -> None:
    made = show(model)
    assert isinstance(made, Sorry)
    assert why in repr(made)
    assert "\n" not in repr(made)
    assert "Traceback" not in made._repr_html_()


def test_a_class_that_only_works_for_some_numbers_says_so_and_recovers() -> None:
    class Picky(Model):
        def forward(self, x1, x2):
            if x1 < 0:
                raise ValueError("not <b>that</b>")
            return super().forward(x1, x2)

    explorer = explore(Picky)
    assert isinstance(explorer, Explorer)
    explorer.fields["x1"].value = -1.0
    assert "stopped with ValueError: not <b>that</b>." in text(explorer.words)
    assert explorer.picture.value == ""
    explorer.fields["x1"].value = 1.0
    assert "Forward: input (1, 3), output 15." in text(explorer.words)
    assert label(explorer.picture)


# Where widgets don't run


@pytest.mark.parametrize("make", [stepping, exploring])
def test_the_still_picture_stands_beside_the_widgets(
    make: Callable[[], Any], shown: list[dict[str, Any]]
) -> None:
    made = make()
    made._ipython_display_()
    still, live = shown
    assert still["text/plain"] == made.still.alt
    assert f'alt="{html.escape(made.still.alt)}"' in still["text/html"]
    assert VIEW not in still
    assert live[VIEW]["model_id"] == made.panel.model_id
    assert live["text/plain"] in html.unescape(live["text/html"])
    for bundle in shown:
        assert "<script" not in bundle["text/html"]
    # JupyterLab keeps what is known of a widget in the kernel; nothing of it is in the file.
    assert len(str(shown)) < 250_000


def test_the_still_timeline_is_complete(shown: list[dict[str, Any]]) -> None:
    stepping()._ipython_display_()
    assert "13. you: backward() is done" in shown[0]["text/plain"]


def test_a_page_of_nbconvert_shows_the_picture(shown: list[dict[str, Any]]) -> None:
    exploring()._ipython_display_()
    outputs = [nbformat.v4.new_output("display_data", bundle) for bundle in shown]
    cell = nbformat.v4.new_code_cell("explore(Model)", outputs=outputs, execution_count=1)
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    body = page[page.index("<body") :]
    assert 'alt="Forward: x1 = 2 times x2 = 3 is 6;' in body
    assert "In JupyterLab, run this cell" in body
    assert "widget-view" not in body


@pytest.mark.parametrize("make", [stepping, exploring])
def test_without_ipywidgets_the_picture_is_all(
    make: Callable[[], Any], shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # an import of it fails
    made = make()
    made._ipython_display_()
    assert made.panel is None
    (still,) = shown
    assert "<img" in still["text/html"] and "<style" not in still["text/html"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTOGRADER_FIGURES", "0"),
        ("NBGRADER_EXECUTION", "validate"),
    ],
)
def test_a_grader_imports_no_widgets(name: str, value: str) -> None:
    code = """
import sys, torch
from torch import nn
from autograder.lab import explore, step_through
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.tensor([5.0]))
    def forward(self, x1, x2):
        return x1 * x2 * self.W
for made in (step_through(Model), explore(Model, grad_output=3.0)):
    made._ipython_display_()
    print(made.still.alt)
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {name: value},
    )
    *said, modules = done.stdout.splitlines()
    assert any("13. you: backward() is done" in line for line in said)
    assert any("x1 45, x2 30." in line for line in said)
    assert "ipywidgets" not in modules.split()


# Running a cell again


def _alive() -> int:
    return len(ipywidgets.widgets.widget._instances)


def test_running_a_cell_again_leaves_nothing_behind(shown: list[dict[str, Any]]) -> None:
    before = _alive()
    exploring()._ipython_display_()
    first, after = shown[-1][VIEW]["model_id"], _alive()
    assert after > before
    for _ in range(3):
        exploring()._ipython_display_()
        assert _alive() == after
    assert first not in ipywidgets.widgets.widget._instances
    assert shown[-1][VIEW]["model_id"] in ipywidgets.widgets.widget._instances


def test_two_cells_keep_their_widgets(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shell:
        cell = "one"

        def get_parent(self) -> dict[str, Any]:
            return {"metadata": {"cellId": self.cell}}

    shell = Shell()
    monkeypatch.setattr(widgets, "get_ipython", lambda: shell)
    exploring()._ipython_display_()
    shell.cell = "two"
    exploring()._ipython_display_()
    exploring()._ipython_display_()
    ids = [bundle[VIEW]["model_id"] for bundle in shown if VIEW in bundle]
    alive = [name in ipywidgets.widgets.widget._instances for name in ids]
    assert alive == [True, False, True]
