"""What an error in a learner's cell looks like, in a real kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel import Kernel, errors

from autograder.lab.tracebacks import shorten

SET_UP = """
import torch
from torch import nn
import autograder.lab

class Add(nn.Module):
    def forward(self, x1, x2):
        return x1 + x2

add = Add()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with Kernel(tmp_path_factory.mktemp("kernel")) as running:
        assert errors(running.run(SET_UP)) == []
        yield running


def shown(kernel: Kernel, source: str) -> str:
    """The error of a cell, without colours."""
    (lines,) = errors(kernel.run(source))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)).rstrip()


def arrow(code: str) -> str:
    """A pattern for the line that an arrow points at."""
    return rf"(?m)^-+> \d+ +{re.escape(code)}$"


RECURSION = """
def hook(module, input, output):
    return module(*input) + 5

add = Add()
add.register_forward_hook(hook)
add(torch.ones(1), torch.ones(1))
"""


def test_of_an_endless_recursion_a_screen_is_shown(kernel: Kernel) -> None:
    text = shown(kernel, RECURSION)
    assert len(text.splitlines()) < 30
    assert re.search(arrow("add(torch.ones(1), torch.ones(1))"), text)
    assert re.search(arrow("return module(*input) + 5"), text)
    assert "RecursionError: maximum recursion depth exceeded" in text
    assert re.search(r"\(\d+ calls in between, most of them in libraries, are left out\.\)", text)
    assert "torch/nn" not in text


def test_an_error_in_a_hook_shows_the_call_and_the_hook(kernel: Kernel) -> None:
    text = shown(
        kernel,
        "def pre_hook(module, input):\n    return input.no_such\n\n"
        "add = Add()\nadd.register_forward_pre_hook(pre_hook)\nadd(torch.ones(1), torch.ones(1))",
    )
    assert re.search(arrow("add(torch.ones(1), torch.ones(1))"), text)
    assert re.search(arrow("return input.no_such"), text)
    assert "AttributeError: 'tuple' object has no attribute 'no_such'" in text
    assert "torch/nn" not in text


def test_what_led_to_an_error_is_shown_and_short_too(kernel: Kernel) -> None:
    text = shown(
        kernel,
        "try:\n    Add()(1)\nexcept TypeError as error:\n    raise ValueError('no sum') from error",
    )
    assert "TypeError: Add.forward() missing 1 required positional argument" in text
    assert "direct cause" in text
    assert "ValueError: no sum" in text
    assert "torch/nn" not in text


def test_where_nothing_is_left_out_nothing_is_said(kernel: Kernel) -> None:
    text = shown(kernel, "answer = [1]\nanswer[2]")
    assert re.search(arrow("answer[2]"), text)
    assert text.endswith("IndexError: list index out of range")


def test_a_cell_that_is_no_python_is_shown_as_ever(kernel: Kernel) -> None:
    text = shown(kernel, "def hook(module, input)\n    pass")
    assert len(text.splitlines()) == 4
    assert text.endswith("SyntaxError: expected ':'")


LOOP = """
def hook(module, input, output):
    print("in the loop", flush=True)
    while True:
        output = output + 0

add = Add()
add.register_forward_hook(hook)
add(torch.ones(1), torch.ones(1))
"""


def test_a_loop_that_was_interrupted_is_short_too(kernel: Kernel) -> None:
    seen = []
    for message in kernel.messages(kernel.start(LOOP)):
        seen.append(message)
        if message["type"] == "stream":
            kernel.manager.interrupt_kernel()
    (lines,) = errors(seen)
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)).rstrip()
    assert re.search(arrow("add(torch.ones(1), torch.ones(1))"), text)
    assert re.search(r"(?m)^-+> \d+ +(print\(.*|while True:|output = output \+ 0)$", text)
    assert re.search(r"(?m)^KeyboardInterrupt", text)
    assert "torch/nn" not in text
    assert errors(kernel.run("1 + 1")) == []


GOOD = "def hook(x):\n    return 2 * x"
CHECK = "autograder.lab.expect(lambda: hook(1), 2, 'hook(1)')"


@pytest.mark.parametrize("broken", ["def hook(x)\n    return x", "def hook(x):\nreturn 2 * x"])
@pytest.mark.parametrize("cell_id", ["answer", ""], ids=["id", "no id"])
def test_a_check_never_judges_what_stood_there_before(
    cell_id: str, broken: str, kernel: Kernel
) -> None:
    kernel.run(GOOD, cell_id)
    assert errors(kernel.run(CHECK, "check")) == []
    kernel.run(broken, cell_id)
    shown = kernel.run(CHECK, "check")
    assert len(errors(shown)) == 1
    (box,) = [message for message in shown if message["type"] == "display_data"]
    assert "Python could not read the cell with your answer" in box["data"]["text/plain"]
    assert "line " in box["data"]["text/plain"].splitlines()[1]
    assert ".py" not in box["data"]["text/plain"]
    kernel.run(GOOD, cell_id)
    assert errors(kernel.run(CHECK, "check")) == []


@pytest.mark.parametrize("call", ["exit()", "quit", "def hook(x):\n    quit()\nhook(1)"])
def test_exit_ends_no_kernel(call: str, kernel: Kernel) -> None:
    kernel.run("kept = 1")
    (lines,) = errors(kernel.run(call))
    assert lines[0].startswith("exit() and quit() end the whole notebook")
    assert errors(kernel.run("kept")) == []


def test_a_traceback_that_is_all_in_libraries_stays() -> None:
    import json

    with pytest.raises(ValueError, match="Expecting value") as caught:
        json.loads("x")
    inside = caught.tb.tb_next
    assert inside is not None
    assert shorten(inside) == (inside, 0)
    short, left_out = shorten(caught.tb)
    assert short is not None
    assert Path(short.tb_frame.f_code.co_filename) == Path(__file__)
    assert short.tb_next is None
    assert left_out > 1
