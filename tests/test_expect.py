"""``expect`` as a learner meets it: in a notebook, where nothing else explains what went wrong."""

from __future__ import annotations

import html
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import torch
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbgrader.utils import determine_grade
from traitlets.config import Config

from autograder import marking
from autograder.lab import (
    CheckFailed,
    Draw,
    Todo,
    at_most,
    check,
    expect,
    leaving,
    one_of,
    session,
    tracebacks,
)
from autograder.lab.box import Box

# The function `expect` hides the module of that name.
lab_expect = importlib.import_module("autograder.lab.expect")
A, B = torch.tensor([2.0]), torch.tensor([3.0])
NOTHING = ("", "")
NOT_YET = ["Not yet. The box above says what was seen."]


class Shell(InteractiveShell):
    """A real shell that keeps what would be sent to a front end."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        self.errors.append((etype.__name__, str(evalue), list(stb)))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(session, "_stopped", {})
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    made = Shell.instance(config=config)
    made.errors = []
    made.display_pub = CapturingDisplayPublisher(shell=made)
    session.watch()  # as the first import does in a kernel
    leaving.install()
    made.run_cell("import torch\nfrom autograder.lab import *\nA = torch.tensor([2.0])")
    yield made
    Shell.clear_instance()


def run(shell: Shell, source: str) -> SimpleNamespace:
    """Run a cell: what was displayed, and the error as (type, text, lines), if any."""
    shell.errors.clear()
    shell.display_pub.outputs.clear()
    shell.run_cell(source)
    assert len(shell.errors) <= 1
    return SimpleNamespace(
        boxes=[output["data"] for output in shell.display_pub.outputs],
        error=shell.errors[0] if shell.errors else None,
    )


# --- what passes ---------------------------------------------------------------------------------


def test_success_is_one_line_on_stdout_only(
    shell: Shell, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = run(shell, "expect([A, 1], [A.clone(), 1], 'the answer')")
    assert (seen.boxes, seen.error) == ([], None)
    assert capfd.readouterr() == ("✓ the answer\n", "")


def test_expect_gives_nothing_back(capfd: pytest.CaptureFixture[str]) -> None:
    assert expect(lambda: A, A, "it") is None  # type: ignore[func-returns-value]
    assert expect(2, one_of(1, at_most(2)), "with\na line break") is None  # type: ignore[func-returns-value]
    assert capfd.readouterr() == ("✓ it\n✓ with a line break\n", "")


def test_an_accepted_value_passes_with_a_note(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "mistakes.toml"
    table.write_text("[in_place]\nsays = 'this counts, though'")
    monkeypatch.setattr(lab_expect, "_HERE", table)
    expect(B, A, "it", accepted={"in_place": B})
    assert capfd.readouterr() == ("✓ it (this counts, though)\n", "")


# --- what fails ----------------------------------------------------------------------------------


def test_failure_is_a_box_and_one_line(shell: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    seen = run(shell, "expect([A * 2], [A], 'the <b>answer</b>', mistakes={'doubled': [A * 2]})")
    (box,) = seen.boxes
    name, text, lines = seen.error
    says = marking.shared()["doubled"].says
    assert name == "CheckFailed"
    assert lines == NOT_YET  # the box has said it all
    assert text == f"the <b>answer</b>: Seen: [tensor([4.])]. {says}"
    assert set(box) == {"text/html", "text/plain"}
    assert box["text/plain"].splitlines() == [
        "Not yet: the <b>answer</b>",
        "Seen: [tensor([4.])].",
        says,
    ]
    assert "Not yet: the &lt;b&gt;answer&lt;/b&gt;" in box["text/html"]
    assert capfd.readouterr() == NOTHING


def test_for_nbgrader_which_shows_no_box_the_error_is_the_sentence(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    _, text, lines = run(shell, "expect([A * 2], [A], 'it')").error
    assert lines == [text]
    assert text.startswith("it: Seen: [tensor([4.])]. ")


def test_a_todo_says_so_and_points_to_the_box(shell: Shell) -> None:
    seen = run(shell, "def f():\n    raise Todo\nexpect(lambda: f(), 1, 'it')")
    says = marking.shared()["todo"].says
    assert seen.error[1:] == (says, ["Still a TODO. The box above says what to do."])
    assert seen.boxes[0]["text/plain"] == f"Not yet.\n{says}"


HARD = [
    "expect(lambda: 1 / 0, 1, 'it')",
    "def f():\n    raise ValueError('one\\n\\ntwo\\r\\n\\u2028three\\x1b[31m\\x00' * 500)\n"
    "expect(f, 1, 'it')",
    "def f():\n    raise ValueError\nexpect(f, 1, '')",
    "expect('a\\nb<script>alert(1)</script>' * 50, 'x', 'it')",
    "expect(list(range(10**6)), [1], 'it')",
    "expect({'\\n': '\\n'}, {}, 'it')",
    "expect(type('Two\\nlines <i>', (), {})(), 1, 'it')",
    "class E(Exception):\n    def __str__(self): raise SystemExit\n"
    "def f(): raise E\nexpect(f, 1, 'it')",
    "E = type('Odd\\nname' * 99, (Exception,), {})\ndef f(): raise E('x')\nexpect(f, 1, 'it')",
    "expect('\\ud800', 'x', 'it \\ud800')",
    "expect(lambda: exit(), 1, 'it')",
    "import sys\nexpect(lambda: sys.exit('gone'), 1, 'it')",
    "def f(): return f()\nexpect(f, 1, 'it')",
    "expect(torch.full((2,), float('nan')), torch.ones(2), 'it')",
    "expect(torch.tensor([1e308, -1e308], dtype=torch.float64) * 10,"
    " torch.tensor([1e-300, 2.0], dtype=torch.float64), 'it')",
    "expect(torch.tensor([1e308, -1e308], dtype=torch.float64),"
    " torch.tensor([-1e308, 1e308], dtype=torch.float64), 'it')",
    "expect(torch.tensor([6e4, -6e4], dtype=torch.float16), torch.tensor([1.0, 2.0]), 'it')",
    "expect(input, 1, 'x' * 5_000)",
    "expect(1, 2, 'two\\nlines')",
    "expect(lambda: undefined_name, 1, 'it')",
    "def f(): raise Todo\nexpect(f, 1, 'it')",
]


def rows_on_screen(text: str, width: int = 100) -> int:
    """How many rows a text takes in a notebook of that many characters."""
    return sum(1 + len(line) // width for line in text.splitlines())


@pytest.mark.parametrize("source", HARD)
def test_the_error_is_one_line_whatever_the_learner_made(
    shell: Shell, source: str, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = run(shell, source)
    name, text, lines = seen.error
    assert name == "CheckFailed"
    assert len(lines) == 1
    assert len(lines[0]) < 60
    assert 0 < len(text) <= 1_000
    assert text.isprintable()
    text.encode()
    (box,) = seen.boxes
    assert rows_on_screen(box["text/plain"]) <= 20
    assert len(box["text/html"]) < 5_000
    tags = set(re.findall(r"<(/?\w+)", box["text/html"]))
    assert tags <= {"div", "/div", "b", "/b", "br", "code", "/code", "i", "/i"}
    assert capfd.readouterr() == NOTHING


def test_the_box_says_the_same_as_the_line(shell: Shell) -> None:
    seen = run(shell, "expect([A, A], [A, A + 1], 'it')")
    (box,) = seen.boxes
    plain = html.unescape(re.sub(r"<[^>]+>", "", box["text/html"]))
    for part in box["text/plain"].splitlines():
        assert part.removesuffix(".") in plain
    assert seen.error[1] == ": ".join(
        (
            box["text/plain"].splitlines()[0].removeprefix("Not yet: "),
            " ".join(box["text/plain"].splitlines()[1:]),
        )
    )


def test_the_exception_outside_of_a_notebook(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CheckFailed) as caught:
        expect(lambda: [A], [A, B], "the answer")
    assert isinstance(caught.value, AssertionError)
    assert caught.value.mistake == "missing_items"
    assert str(caught.value) == caught.value.message
    assert caught.value.message.startswith("the answer: Seen: [tensor([2.])].")
    out, err = capfd.readouterr()
    assert out.startswith("Not yet: the answer\n")
    assert "object at" not in out
    assert err == ""


def test_a_hint_is_named_in_the_box_only(shell: Shell) -> None:
    outcome = marking.Outcome(False, "it", "Seen: 1.", "none", "Words.", 2)
    assert repr(Box(outcome)).endswith("Words.\nStuck? Open hint 2 below.")
    assert "<i>Stuck? Open hint 2 below.</i>" in Box(outcome)._repr_html_()
    assert "Hint" not in outcome.line


def test_an_interrupt_passes_through_and_a_box_says_what_it_may_mean(shell: Shell) -> None:
    def stopped_by_the_user() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        expect(stopped_by_the_user, 1, "it")
    ran = run(shell, "def _stop():\n    raise KeyboardInterrupt\nexpect(_stop, 1, 'it')")
    (box,) = ran.boxes
    assert marking.shared()["interrupted"].says in box["text/plain"]
    _, _, lines = ran.error
    assert lines == ["KeyboardInterrupt: stopped. The box above says what to look for."]


def test_what_the_learner_edits_in_place_does_not_change_what_is_expected() -> None:
    x = torch.tensor([1.0])

    def edits() -> torch.Tensor:
        return x.add_(1)

    with pytest.raises(CheckFailed):
        expect(edits, x, "it")


def test_input_is_refused_with_a_sentence(shell: Shell) -> None:
    from IPython.core.error import StdinNotImplementedError

    def refuse(prompt: str = "") -> str:
        raise StdinNotImplementedError("raw_input was called")

    shell.user_ns["refuse"] = refuse
    assert marking.shared()["input_refused"].says in run(shell, "expect(refuse, 1, 'it')").error[1]


# --- names of Python's that a learner has given away ---------------------------------------------


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("len", "def size(x):\n    return len(x)\nexpect(lambda: size([1]), 1, 'it')"),
        ("sum", "expect(lambda: [sum(x) for x in ((1, 2),)], [3], 'it')"),
        ("tuple", "x = 1\nexpect(lambda: tuple([x]), (1,), 'it')"),
        (
            "abs",
            "def f(x):\n    return g(x)\ndef g(x):\n    return abs(x)\nexpect(lambda: f(1), 1, '')",
        ),
    ],
)
def test_a_rebound_builtin_is_named(shell: Shell, name: str, cell: str) -> None:
    assert run(shell, cell).error is None
    run(shell, f"{name} = [1]")
    assert run(shell, cell).error[1] == marking.shared()["rebound"].filled({"name": name})


@pytest.mark.parametrize(
    ("before", "cell"),
    [
        ("sum = 5.0", "expect(A.sum(), torch.tensor(2.0), 'it')"),  # a method of that name
        ("input = 1", "def hook(module, input):\n    return input\nexpect(hook(1, 2), 2, 'it')"),
        ("max = min = 1", "expect(1, 1, 'it')"),
        ("id = 1", "for id in (2, 2):\n    expect(id, 2, 'it')"),  # the check's own
        ("", "expect(len([1]), 1, open.__name__ and 'it')"),  # IPython's own open
        ("", "expect(__name__, '__main__', 'it')"),
        # Their function may read their name.
        ("max = 5\ndef hook():\n    return max", "expect(lambda: hook(), 5, 'it')"),
    ],
)
def test_a_name_that_a_check_does_not_read_is_the_learners_own(
    shell: Shell, before: str, cell: str
) -> None:
    run(shell, before)
    assert run(shell, cell).error is None


# --- sentences -----------------------------------------------------------------------------------


def test_the_lessons_table_is_looked_for_in_the_working_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "mistakes.toml"
    monkeypatch.setattr(lab_expect, "_HERE", table)
    # Where only the notebook was copied: the tables of the course around the package.
    assert lab_expect._words().keys() > marking.shared().keys()
    monkeypatch.setattr(lab_expect, "_COURSE", tmp_path)
    assert lab_expect._words() == marking.shared()
    table.write_text("[mine]\nsays = 'Say $this.'\nhint = 3")
    with pytest.raises(CheckFailed, match=r"^it: Seen: 1\. Say \$this\.$"):
        expect(1, 2, "it", mistakes={"mine": 1})


@pytest.mark.parametrize("damage", [b"[mine", b"\xff", b"mine = 1"])
def test_a_damaged_table_does_not_stop_a_check(
    damage: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mistakes.toml").write_bytes(damage)
    monkeypatch.setattr(lab_expect, "_HERE", tmp_path / "mistakes.toml")
    with pytest.raises(CheckFailed) as caught:
        expect(None, 2, "it")
    assert caught.value.mistake == "none"


def test_a_table_is_read_anew_where_it_was_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "mistakes.toml"
    monkeypatch.setattr(lab_expect, "_HERE", table)
    for says in ("First.", "Second, longer."):
        table.write_text(f"[mine]\nsays = '{says}'")
        with pytest.raises(CheckFailed, match=rf"{says}$"):
            expect(1, 2, "it", mistakes={"mine": 1})


# --- where to look -------------------------------------------------------------------------------

HOOK = "# TODO: store it.\ndef hook(x):\n    y = x[0]\n    return y[{}]"
CHECK = "def _call(x):\n    return hook(x)\n\n\nexpect(lambda: _call([[1]]), 1, 'it')"


def test_the_box_names_the_learners_own_line(shell: Shell) -> None:
    run(shell, HOOK.format(3))
    (box,) = run(shell, CHECK).boxes
    line = "Where to look: `return y[3]`, line 4 of the cell with `hook`"
    assert box["text/plain"].splitlines()[-1] == line
    assert ">return y[3]</code>, line 4 of the cell with <code" in box["text/html"]
    run(shell, HOOK.format(0))
    assert run(shell, CHECK).boxes == []


@pytest.mark.parametrize(
    ("cell", "check"),
    [
        ("", CHECK),  # there is no such function yet
        ("def hook(x):\n    return [2]", CHECK),  # it ends well, with a wrong value
        ("from math import sqrt as hook", CHECK.replace("[[1]]", "-1")),  # not the learner's code
        ("", "def own(x):\n    return x[9]\nexpect(lambda: own([1]), 1, 'it')"),  # the check's
    ],
)
def test_no_line_is_named_where_none_is_the_learners(shell: Shell, cell: str, check: str) -> None:
    run(shell, cell)
    (box,) = run(shell, check).boxes
    assert "Where to look" not in box["text/plain"]


def test_the_line_is_the_last_one_of_the_learners_on_the_way(shell: Shell) -> None:
    run(shell, "class Given:\n    def go(self, function):\n        return function() + None")
    run(shell, "def inner():\n    return 1\ndef hook(x):\n    return Given().go(inner)")
    (box,) = run(shell, CHECK).boxes
    assert "`return Given().go(inner)`, line 4 of the cell with `hook`" in box["text/plain"]


def test_a_long_line_is_cut_and_its_backticks_do_no_harm(shell: Shell) -> None:
    run(shell, f"def hook(x):\n    return ('`<b>`' + 1) or {'x + ' * 99} 1")
    (box,) = run(shell, CHECK).boxes
    line = box["text/plain"].splitlines()[-1]
    assert line.startswith("Where to look: `return (''<b>'' + 1)")
    assert len(line) < 160
    assert "<b>'" not in box["text/html"]


# --- an answer that was not made anew, a name that is not there ----------------------------------

GOOD = "def hook(x):\n    return 2 * x"
CHECK_HOOK = "def _run():\n    return hook(2)\nexpect(lambda: _run(), 4, 'hook(2)')"


@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
@pytest.mark.parametrize(
    ("cell", "mistake", "seen"),
    [
        ("def hook(x)\n    return x", "answer_unreadable", "SyntaxError: expected ':' (line 1 of"),
        ("def hook(x):\nreturn x", "answer_unreadable", "IndentationError: expected an indented"),
        ("no_such\ndef hook(x): ...", "answer_stopped", "NameError: name 'no_such' is not"),
    ],
)
def test_an_older_function_is_not_judged(
    cell: str, mistake: str, seen: str, first: bool, shell: Shell
) -> None:
    if not first:
        run(shell, GOOD)
        assert run(shell, CHECK_HOOK).boxes == []
    run(shell, cell)
    (box,) = run(shell, CHECK_HOOK).boxes
    words = marking.shared()
    assert box["text/plain"].splitlines()[2:] == [words[mistake].says]
    assert box["text/plain"].splitlines()[1].startswith(f"Stopped with {seen}")
    assert run(shell, "expect(lambda: len('ab'), 2, 'another exercise')").boxes == []
    run(shell, GOOD)
    assert run(shell, CHECK_HOOK).boxes == []


def test_a_function_with_another_name_is_said_to_be_missing(shell: Shell) -> None:
    shell.run_cell(GOOD + "\nhook(1)", cell_id="a")
    shell.run_cell(GOOD.replace("hook", "hok") + "\nhook(1)", cell_id="a")  # the one from before
    (box,) = run(shell, CHECK_HOOK).boxes
    assert marking.shared()["answer_renamed"].filled({"name": "hook"}) in box["text/plain"]
    run(shell, GOOD)
    assert run(shell, CHECK_HOOK).boxes == []


def test_a_check_that_stops_in_its_middle_does_no_harm_to_the_next(shell: Shell) -> None:
    stops = "expect(1, 2, 'it')\ndef _own():\n    return 3"
    run(shell, stops)
    (box,) = run(shell, stops).boxes
    assert box["text/plain"].startswith("Not yet: it")
    run(shell, "def _own():\n    return 3")
    assert run(shell, "def _own():\n    return 3\nexpect(lambda: _own(), 3, 'it')").boxes == []


def test_a_name_that_another_cell_makes_gets_the_sentence_of_a_cell(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "made_elsewhere", lambda: {"hook"})
    tracebacks.install()
    (box,) = run(shell, CHECK_HOOK).boxes
    (line,) = run(shell, "hook").error[2]
    assert box["text/plain"].splitlines()[-1] == line.removeprefix("NameError: ")
    assert "`hook` is not there yet. Run the cell that makes it first." in line
    (box,) = run(shell, CHECK_HOOK.replace("hook", "hok")).boxes
    assert box["text/plain"].splitlines()[-1] == marking.shared()["missing_name"].says


@pytest.mark.parametrize("call", ["exit()", "quit()", "exit", "quit(0)", "exit(keep_kernel=True)"])
def test_exit_is_a_sentence_and_the_kernel_goes_on(call: str, shell: Shell) -> None:
    says = marking.shared()["exits"].says
    assert run(shell, call).error == ("ExitCalled", "", [says])
    if call.endswith(")"):
        (box,) = run(shell, f"expect(lambda: {call}, 1, 'it')").boxes
        assert box["text/plain"].splitlines()[1:] == ["Stopped with ExitCalled.", says]


# --- how it looks --------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_code_in_a_sentence_is_set_as_code() -> None:
    outcome = marking.Outcome(False, "it", "Seen: `a`<i>.", "none", "Ask `W<b>`, or ` alone.", 2)
    shown = Box(outcome)._repr_html_()
    assert re.search(r"Ask <code style=[^>]+>W&lt;b&gt;</code>, or ` alone\.", shown)
    assert re.search(
        r"Seen: <code style=[^>]+>`a`&lt;i&gt;</code>", shown
    )  # a value is no sentence
    assert "Ask `W<b>`" in repr(Box(outcome))


def test_the_longest_box_fits_on_a_screen() -> None:
    outcome = marking.Outcome(False, "w " * 999, "s" * 999, "none", "x " * 9999, 2)
    assert rows_on_screen(repr(Box(outcome, "y" * 160))) <= 20


def test_the_box_can_be_read_in_light_and_dark_themes() -> None:
    shown = Box(marking.Outcome(False, "it", "Seen: 1.", "none", "Words.", 2))._repr_html_()
    styles = [
        dict(part.split(":", 1) for part in style.split(";"))
        for style in re.findall(r'style="([^"]+)"', shown)
    ]
    box, code = styles
    # Both are set, so that the theme's own can't make an unreadable pair.
    assert contrast(box["color"], box["background"]) > 7
    assert contrast(code["color"], code["background"]) > 7
    edge = re.search(r"#\w+", box["border-left"])
    assert edge
    for page in ("#ffffff", "#111111"):  # JupyterLab's light and dark backgrounds
        assert contrast(edge[0], page) > 3
    assert 'role="status"' in shown  # read out when it appears
    assert "class=" not in shown
    assert "<script" not in shown


# --- helpers of the checks -----------------------------------------------------------------------


def test_draws_are_fresh_and_depend_on_the_seed_only() -> None:
    torch.manual_seed(1)
    draw = Draw()
    torch.manual_seed(99)  # what a learner does in between changes nothing
    torch.rand(7)
    first = [draw(2, 3), draw(1)]
    torch.manual_seed(1)
    again = Draw()
    second = [again(2, 3), again(1)]
    assert all(torch.equal(one, two) for one, two in zip(first, second, strict=True))
    assert not torch.equal(draw(4), draw(4))
    assert first[0].shape == (2, 3)
    many = draw(1_000)
    assert (many.min() >= 0.5, many.max() < 3, many.dtype) == (True, True, torch.float32)
    assert draw(1, requires_grad=True).is_leaf
    assert draw(1, requires_grad=True).requires_grad
    assert not draw(1).requires_grad


def test_draws_do_not_follow_defaults_of_the_notebook() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        with torch.no_grad():
            drawn = Draw()(2, requires_grad=True)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert (drawn.dtype, drawn.device.type, drawn.requires_grad) == (torch.float32, "cpu", True)


def test_a_todo_is_one_line(shell: Shell) -> None:
    name, _, lines = run(shell, "raise Todo").error
    assert name == "Todo"
    assert len(lines) == 1
    assert "TODO" in lines[0]
    assert issubclass(Todo, NotImplementedError)


def test_check_does_nothing_while_the_notebook_itself_is_checked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("no such notebook.ipynb")
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 1
    assert err == ""


@pytest.mark.parametrize("count", [0, 2])
def test_check_without_exactly_one_notebook_says_what_to_write(
    count: int, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    for number in range(count):
        (tmp_path / f"{number}.ipynb").touch()
    _, text, lines = run(shell, "check()").error
    assert lines == [text]
    assert "check('NAME.ipynb')" in text


# --- in a real kernel, marked by stock nbgrader --------------------------------------------------


def test_stock_nbgrader_marks_what_expect_shows(tmp_path: Path) -> None:
    (tmp_path / "mistakes.toml").write_text("[mine]\nsays = 'A sentence of the lesson.'")
    sources = {
        "set-up": "import torch\nfrom autograder.lab import Todo, expect\nx = torch.ones(2)",
        "right": "expect(lambda: x + 1, x + 1, 'it')\nexpect([x], [x], 'more')",
        "wrong": "expect(x + 1, x, 'it', mistakes={'mine': x + 1})\nexpect(x, x, 'more')",
        "raises": "def f():\n    raise Todo\nexpect(f, x, 'it')",
    }
    cells = [
        nbformat.v4.new_code_cell(
            source,
            metadata={
                "tags": ["raises-exception"],
                "nbgrader": {"grade": True, "points": 4, "grade_id": name, "solution": False},
            },
        )
        for name, source in sources.items()
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    # As nbgrader runs it, which shows no box and no short line.
    client.execute(env={**os.environ, "NBGRADER_EXECUTION": "autograde"})
    _, right, wrong, raises = notebook.cells
    assert [output["output_type"] for output in right.outputs] == ["stream"]
    assert right.outputs[0]["name"] == "stdout"
    assert determine_grade(right) == (4, 4)
    for cell in (wrong, raises):
        assert [o["output_type"] for o in cell.outputs] == ["display_data", "error"]
        assert len(cell.outputs[1]["traceback"]) == 1
        assert "\n" not in cell.outputs[1]["traceback"][0]
        assert determine_grade(cell) == (0, 4)
    assert "A sentence of the lesson." in wrong.outputs[1]["traceback"][0]
    assert "A sentence of the lesson." in wrong.outputs[0]["data"]["text/plain"]
    assert marking.shared()["todo"].says in raises.outputs[1]["traceback"][0]
