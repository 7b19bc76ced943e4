"""A submission from start to end: one bad cell costs only its exercise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Cell, Course, Master, parse_cells
from autograder.desk import judging
from autograder.engine import EngineError, Limits, Worker

ROOT = Path(__file__).resolve().parent.parent
RIGHT = "answer.append(input[0])\n    answer.append(input[1])"


@pytest.fixture(scope="module")
def master() -> Master:
    return Course(ROOT).master("01_add_and_model")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(Limits(cell_seconds=5)) as running:
        yield running


@pytest.fixture(scope="module")
def reference(worker: Worker, master: Master) -> judging.Reference:
    return judging.run_reference(worker, master)


def cells(master: Master, **answers: str) -> list[Cell]:
    """The solved notebook, with other answers in some cells."""
    found = parse_cells(master.path.read_bytes())
    names = {f"{name}_answer": source for name, source in answers.items()}
    return [
        Cell(names.get(cell.grade_id or "", cell.source), cell.is_code, cell.grade_id)
        for cell in found
    ]


def points(judged: judging.Judged) -> dict[str, float]:
    return {verdict.exercise: verdict.points for verdict in judged.verdicts}


FULL = {
    "pre_hook": 4,
    "output_hook": 4,
    "hook": 4,
    "module_hook": 6,
    "normalise_hook": 6,
    "tensor_hook": 6,
}


@pytest.mark.parametrize(
    "spoilt",
    [
        "def pre_hook(module, input):\n    global answer\n    answer = (input[0], input[1])\n"
        "add = Add()\nadd.register_forward_pre_hook(pre_hook)\nadd(torch.ones(1), torch.ones(1))",
        "del answer\ndef pre_hook(module, input): pass",
        "Draw.__call__ = lambda *a, **k: torch.ones(1)\ndef pre_hook(module, input): pass",
        "torch.utils.hooks.RemovableHandle.__init__ = None\ndef pre_hook(module, input): pass",
        "nn.Module.register_forward_hook.__code__ = (lambda *a, **k: None).__code__\n"
        "def pre_hook(module, input): pass",
        "from torch.overrides import TorchFunctionMode\nclass Mode(TorchFunctionMode):\n"
        "    def __torch_function__(self, *a): raise SystemError('mine')\n"
        "Mode().__enter__()\ndef pre_hook(module, input): pass",
        "import sys\nsys.stdout = None\ndef pre_hook(module, input): pass",
        "Add.forward = lambda self, a, b: a - b\ndef pre_hook(module, input): pass",
        "import threading, time, os\ndef die():\n    time.sleep(0.02)\n    os._exit(1)\n"
        "threading.Thread(target=die).start()\ndef pre_hook(module, input): pass",
    ],
    ids=[
        *("answer is a tuple", "answer deleted", "Draw patched", "handle patched"),
        *("code swapped", "mode left on", "no stdout", "class patched", "dies late"),
    ],
)
def test_one_answer_takes_no_points_from_the_others(
    spoilt: str, worker: Worker, master: Master, reference: judging.Reference
) -> None:
    judged = judging.judge(worker, master, cells(master, pre_hook=spoilt), reference)
    got = points(judged)
    assert {name: got[name] for name in FULL if name != "pre_hook"} == {
        name: FULL[name] for name in FULL if name != "pre_hook"
    }


def test_answers_that_were_merged_into_one_cell_count(
    worker: Worker, master: Master, reference: judging.Reference
) -> None:
    solved = {e.id: e.answer.source for e in master.exercises if e.answer}
    merged = [cell for cell in cells(master) if cell.grade_id not in ("hook_answer",)]
    merged = [
        Cell(f"{cell.source}\n{solved['hook']}", True, cell.grade_id)
        if cell.grade_id == "output_hook_answer"
        else cell
        for cell in merged
    ]
    assert points(judging.judge(worker, master, merged, reference)) == FULL


def test_a_syntax_error_is_named_before_the_missing_function(
    worker: Worker, master: Master, reference: judging.Reference
) -> None:
    broken = cells(master, hook="def hook(module, input, output)\n    return output + 5")
    (verdict,) = [
        v for v in judging.judge(worker, master, broken, reference).verdicts if v.exercise == "hook"
    ]
    assert verdict.mistake == "answer_unreadable"
    assert "Stopped with SyntaxError: expected ':' (line 1 of the cell)." in verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (
            "def hok(module, input, output):\n    return output + 5\nprint(hook)",
            "answer_renamed",
            "makes no `hook` now",
        ),
        ("def hook(module, input, output):\n    exit()", "exits", "SystemExit"),
        ("def hook(module, input, output):\n    quit()", "exits", "SystemExit"),
        (
            "def hook(module, input, output):\n    if hasattr(module, 'ran'):\n        return\n"
            "    module.ran = True\n    return output + 5",
            "constant_offset",
            "a second call of the same add",
        ),
    ],
    ids=["renamed", "exit", "quit", "once only"],
)
def test_what_a_newcomer_did(
    answer: str,
    mistake: str,
    says: str,
    worker: Worker,
    master: Master,
    reference: judging.Reference,
) -> None:
    judged = judging.judge(worker, master, cells(master, hook=answer), reference)
    (verdict,) = [v for v in judged.verdicts if v.exercise == "hook"]
    assert (verdict.points, verdict.mistake) == (0, mistake), verdict.message
    assert says in verdict.message


def test_a_function_that_was_made_is_not_said_to_be_missing(
    worker: Worker, master: Master, reference: judging.Reference
) -> None:
    # The lines below the function try it, and stop as the check does.
    tried = "def hook(module, input, output):\n    return outptu + 5\nadd = Add()\n"
    tried += "add.register_forward_hook(hook)\nadd(torch.ones(1), torch.ones(1))"
    judged = judging.judge(worker, master, cells(master, hook=tried), reference)
    (verdict,) = [v for v in judged.verdicts if v.exercise == "hook"]
    assert verdict.mistake == "missing_name"
    assert "name 'outptu' is not defined" in verdict.message
    assert "before it made" not in verdict.message


def test_one_deadline_holds_for_all_runs_of_a_submission(
    worker: Worker,
    master: Master,
    reference: judging.Reference,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deadlines: list[float | None] = []
    run = Worker.run

    def noted(self: Worker, *given: Any, deadline: float | None = None, **more: Any) -> Any:
        deadlines.append(deadline)
        return run(self, *given, deadline=deadline, **more)

    monkeypatch.setattr(Worker, "run", noted)
    judging.judge(worker, master, cells(master, hook="1 / 0", pre_hook="1 / 0"), reference)
    assert len(deadlines) == 3  # all together, and each that failed alone
    assert len(set(deadlines)) == 1 and deadlines[0] is not None


def test_a_stopped_server_is_noticed(master: Master, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.engine.worker._ANSWER_SECONDS", 2.0)
    stop = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos._exit(0)"
    # With the inner wall nobody can stop it.
    with Worker(Limits(cell_seconds=3), tier="C") as mine:
        reference = judging.run_reference(mine, master)
        with pytest.raises(EngineError):
            judging.judge(mine, master, cells(master, hook=stop), reference)


@pytest.mark.timeout(60)  # it took minutes when each name was a pass
def test_a_large_notebook_is_read(master: Master) -> None:
    line = "x = 1\n" * 30_000
    text = json.dumps({"cells": [{"cell_type": "code", "source": f"{line}{i}"} for i in range(20)]})
    judging.make_plan(master, parse_cells(text.encode()))


@pytest.mark.parametrize(
    ("exercise", "trick"),
    [
        (
            "hook",
            "def hook(module, input, output): pass\n"
            "def call(self, *a):\n    out = nn.Module.__call__(self, *a)\n"
            "    return out + 5 if hook in self._forward_hooks.values() else out\n"
            "Add.__call__ = call",
        ),
        (
            "pre_hook",
            "def pre_hook(module, input): pass\nGiven = Add\nclass Add(Given):\n"
            "    def __call__(self, *a):\n        answer.extend(a)\n"
            "        return super().__call__(*a)",
        ),
        (
            "normalise_hook",
            "def normalise_hook(module, grad_input, grad_output): pass\n"
            "def right(module, grad_input, grad_output):\n"
            "    return tuple(g / sum(grad_input) for g in grad_input)\n"
            "def register(self, hook):\n"
            "    return nn.Module.register_full_backward_hook(self, right)\n"
            "Model.register_full_backward_hook = register",
        ),
    ],
)
def test_given_classes_can_not_do_the_hooks_work(
    exercise: str, trick: str, worker: Worker, master: Master, reference: judging.Reference
) -> None:
    got = points(judging.judge(worker, master, cells(master, **{exercise: trick}), reference))
    assert got == {**FULL, exercise: 0}


def test_a_class_written_again_by_the_learner_costs_nothing(
    worker: Worker, master: Master, reference: judging.Reference
) -> None:
    again = (
        "class Add(nn.Module):\n    def forward(self, x1, x2):\n        return x1 + x2\n"
        f"def pre_hook(module, input):\n    {RIGHT}"
    )
    assert points(judging.judge(worker, master, cells(master, pre_hook=again), reference)) == FULL
