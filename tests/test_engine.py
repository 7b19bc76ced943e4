"""The engine: what a learner's code can do to a run, and what it can't."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from conftest import need

from autograder import marking
from autograder.course import Plan, PlanCell
from autograder.engine import EngineError, FilesError, Limits, Worker, frames, read_files
from autograder.engine.folders import Folders
from autograder.engine.server_process import end
from autograder.marking import Observations

SECRET = "a secret"
CHECK = "expect(2 + 2)"


@pytest.fixture(scope="module", params=["A", "B"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    if request.param == "A":
        need("bubblewrap")
    limits = Limits(cell_seconds=3, notebook_seconds=30, output_chars=5_000, outputs=20)
    with Worker(limits, tier=request.param) as running:
        yield running


def plan(*sources: str) -> Plan:
    """Cells of the learner's own; those that call expect are checks."""
    cells = (
        PlanCell(f"c{i}", "check" if source.startswith("expect") else "own", source)
        for i, source in enumerate(sources)
    )
    return Plan("test", tuple(cells))


def run(worker: Worker, *sources: str, secret: str = SECRET) -> Observations:
    return worker.run(plan(*sources), secret)


def endings(observations: Observations) -> list[str]:
    return [cell.ended for cell in observations.cells.values()]


def test_values_come_back_frozen(worker: Worker) -> None:
    seen = run(worker, "import torch\nx = torch.ones(2)", "expect([x, 1, 'a', (None, 2.5)])")
    (value,) = seen.cells["c1"].values
    assert marking.same(value, [marking.freeze(__import__("torch").ones(2)), 1, "a", (None, 2.5)])
    assert endings(seen) == ["ok", "ok"]


def test_a_function_is_called_and_what_it_raises_is_a_value(worker: Worker) -> None:
    seen = run(worker, "def f(): return 1 / 0", "expect(lambda: f())\nexpect(3)")
    first, second = seen.cells["c1"].values
    assert first == marking.Raised("ZeroDivisionError", "division by zero")
    assert second == 3


@pytest.mark.parametrize(
    "deadly",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.close(3)",
        "import os; os.write(3, b'\\xff\\xff\\xff\\xff')",
        "import os; os.write(3, b'\\x00\\x00\\x00\\x02{}')",
        "import os; os.write(3, b'\\x00\\x00\\x00\\x05hello')",
    ],
    ids=["exit", "kill", "segfault", "close", "giant frame", "empty frame", "no JSON"],
)
def test_a_cell_that_ends_the_process_costs_only_itself(worker: Worker, deadly: str) -> None:
    seen = run(worker, "x = 1", "expect(x)", deadly, CHECK)
    assert endings(seen) == ["ok", "ok", "crashed", "ok"]
    assert seen.cells["c1"].values == (1,)
    assert seen.cells["c3"].values == (4,)
    assert any("c2" in line for line in seen.trouble)


@pytest.mark.parametrize(
    "endless",
    [
        "while True: pass",
        "import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass",
        "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
        "import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\ntime.sleep(60)",
    ],
    ids=["loop", "swallows", "holds the GIL", "ignores signals"],
)
def test_a_cell_without_end_costs_only_itself(worker: Worker, endless: str) -> None:
    run(worker, CHECK)  # it is warm then
    seen = run(worker, endless, CHECK)
    assert endings(seen) == ["timed out", "ok"]
    assert "the notebook's time was up" not in seen.trouble


def test_a_check_that_never_ends_is_the_learners_function(worker: Worker) -> None:
    loops = "def f():\n    while True: pass"
    seen = run(worker, loops, "expect(lambda: f())", CHECK)
    assert endings(seen) == ["ok", "timed out", "ok"]


def test_the_notebooks_time_is_up(worker: Worker) -> None:
    with Worker(Limits(cell_seconds=5, notebook_seconds=2)) as short:
        seen = short.run(plan("expect(1)", "import time\ntime.sleep(9)", CHECK), SECRET)
    assert endings(seen) == ["ok", "timed out", "not run"]


def test_memory_is_limited(worker: Worker) -> None:
    seen = run(worker, "x = bytearray(6 * 2**30)", CHECK)
    assert endings(seen) == ["error", "ok"]
    assert seen.cells["c0"].error == marking.Raised("MemoryError", "")


def test_processor_time_is_limited_whatever_the_clock_says() -> None:
    with Worker(Limits(cell_seconds=200, notebook_seconds=250, cpu_seconds=3)) as short:
        seen = short.run(plan("while True: pass", CHECK), SECRET)
    assert endings(seen) == ["crashed", "ok"]


def test_sys_exit_and_errors_do_not_stop_the_rest(worker: Worker) -> None:
    seen = run(worker, "import sys; sys.exit()", "raise KeyboardInterrupt", "1/0", CHECK)
    assert endings(seen) == ["error", "error", "error", "ok"]


def test_a_frame_that_is_there_is_in_time_however_late_it_is_read() -> None:
    read, write = os.pipe()
    data = frames.packed({"cell": "x" * 50_000})
    os.write(write, data)
    assert frames.receive(read, time.monotonic() - 5) == {"cell": "x" * 50_000}
    with pytest.raises(frames.TimeUp):
        frames.receive(read, time.monotonic() - 5)
    os.write(write, data[:-1])
    with pytest.raises(frames.TimeUp):  # and not for ever
        frames.receive(read, time.monotonic() - 5)
    for fd in (read, write):
        os.close(fd)


def test_a_frame_in_the_smallest_parts_takes_no_more_memory_than_it_is_long() -> None:
    read, write = os.pipe()
    data = frames.packed("x" * 200_000)

    def dribble() -> None:
        for at in range(0, len(data), 10):
            os.write(write, data[at : at + 10])

    thread = threading.Thread(target=dribble)
    tracemalloc.start()
    thread.start()
    try:
        assert frames.receive(read, time.monotonic() + 60) == "x" * 200_000
        assert tracemalloc.get_traced_memory()[1] < 5 * len(data)
    finally:
        tracemalloc.stop()
        thread.join()
        for fd in (read, write):
            os.close(fd)


@pytest.mark.parametrize("brief", [False, True])
def test_a_server_keeps_nothing_of_its_rehearsal(brief: bool) -> None:
    with Worker(brief=brief) as mine:
        seen = run(
            mine,
            "import torch",
            "expect([c for c in torch.nn.Module.__subclasses__() if c.__name__ == '_Layer'])",
        )
    assert seen.cells["c1"].values == ([],)


def test_a_master_without_end_is_told_with_what_to_do() -> None:
    says = re.escape("cell 'c0' of the master timed out after 1 seconds; --limit cell_seconds=")
    with (
        Worker(Limits(cell_seconds=1), warm=()) as mine,
        pytest.raises(EngineError, match=says),
    ):
        mine.reference(plan("while True: pass"), SECRET)


def test_frames_of_other_cells_are_not_taken(worker: Worker) -> None:
    forged = (
        "import json, os\n"
        "data = json.dumps({'cell': 'c1', 'error': None, 'values': [4], 'outputs': []}).encode()\n"
        "os.write(3, len(data).to_bytes(4, 'big') + data)"
    )
    seen = run(worker, forged, CHECK)
    assert seen.cells["c0"].ended == "crashed"


def test_outputs_are_nbformat_in_order(worker: Worker) -> None:
    source = (
        "import sys\nprint('a'); print('b', file=sys.stderr); print('c')\n"
        "from IPython.display import display\ndisplay(1)\nprint('d')\n2"
    )
    items = run(worker, source).cells["c0"].outputs
    kinds = [
        (item["output_type"], item.get("text") or item["data"]["text/plain"]) for item in items
    ]
    assert kinds == [
        ("stream", "a\n"),
        ("stream", "b\n"),
        ("stream", "c\n"),
        ("display_data", "1"),
        ("stream", "d\n"),
        ("execute_result", "2"),
    ]


def test_ipython_semantics(worker: Worker) -> None:
    seen = run(
        worker,
        "%matplotlib inline\n%timeit -n1 -r1 1",
        "import asyncio\nawait asyncio.sleep(0)\nx = 3",
        "%%capture\nprint('hidden')",
        "!echo no shell output is needed",
        "expect(x)",
    )
    assert seen.cells["c4"].values == (3,)
    assert seen.cells["c1"].ended == "ok"
    assert seen.cells["c2"].outputs == ()


def test_input_is_refused_with_its_own_error(worker: Worker) -> None:
    seen = run(worker, "name = input('your name? ')", CHECK)
    assert seen.cells["c0"].error is not None
    assert seen.cells["c0"].error.type_name == "StdinNotImplementedError"


@pytest.mark.parametrize(
    "flood",
    [
        "print('x' * 10_000_000)",
        "for i in range(100_000): print(i)",
        "from IPython.display import display\nfor i in range(1_000): display(i)",
        "raise ValueError('y' * 10_000_000)",
    ],
)
def test_output_is_bounded(worker: Worker, flood: str) -> None:
    seen = run(worker, flood, CHECK)
    text = str(seen.cells["c0"].outputs)
    assert len(text) < 100_000
    assert len(seen.cells["c0"].outputs) <= 21
    assert seen.cells["c1"].ended == "ok"


def test_outputs_of_all_cells_together_are_bounded() -> None:
    limits = Limits(outputs_bytes=200_000)
    with Worker(limits, warm=(), tier="C") as worker:
        seen = run(worker, *["print('x' * 60_000)"] * 5, CHECK)
    shown = [str(seen.cells[f"c{n}"].outputs) for n in range(5)]
    assert ["too much" in text for text in shown] == [False, False, False, True, True]
    assert seen.cells["c5"].values == (4,)


def test_the_same_secret_gives_the_same_draws_whatever_ran_before(worker: Worker) -> None:
    draws = "import random, numpy, torch"
    check = "expect([random.random(), float(numpy.random.rand()), torch.rand(2)])"
    one = run(worker, draws, check).cells["c1"].values[0]
    two = run(worker, draws + "\nrandom.random(); torch.rand(99)", check).cells["c1"].values[0]
    other = run(worker, draws, check, secret="another").cells["c1"].values[0]
    assert marking.same(one, two)
    assert not marking.same(one, other)


def test_what_a_cell_leaves_switched_is_reset_before_a_check(worker: Worker) -> None:
    seen = run(
        worker,
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)",
        "expect([str(torch.ones(1).dtype), torch.is_grad_enabled()])",
    )
    assert seen.cells["c1"].values == (["torch.float32", True],)


def test_transformers_and_hooks_of_ipython_do_not_reach_a_check(worker: Worker) -> None:
    seen = run(
        worker,
        "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda lines: ['pass\\n'])",
        "expect(7)",
        "expect('In' not in dir() or 'expect' not in str(In))",
    )
    assert seen.cells["c1"].values == (7,)
    assert seen.cells["c2"].values == (True,)


def test_a_replaced_expect_is_put_back(worker: Worker) -> None:
    seen = run(worker, "def expect(*args, **kw): return None", "expect(5)")
    assert seen.cells["c1"].values == (5,)


def test_children_start_equal_and_leave_nothing(worker: Worker) -> None:
    before = {p.pid for p in psutil.Process().children(recursive=True)}
    run(
        worker,
        "x = 1; open('left.txt', 'w').write('x')",
        "import os, time; os.fork() or time.sleep(30)",
    )
    seen = run(worker, "import os", "expect(['x' in globals(), os.listdir('.')])")
    assert seen.cells["c1"].values == ([False, []],)
    assert {p.pid for p in psutil.Process().children(recursive=True)} == before


def test_a_reference_keeps_what_was_expected(worker: Worker) -> None:
    master = Plan(
        "test",
        (
            PlanCell("a", "given", "x = 1"),
            PlanCell("b", "check", "expect(x, 1, 'x', mistakes={'two': 2}, accepted={'three': 3})"),
        ),
    )
    (call,) = worker.reference(master, SECRET)["b"]
    assert (call.what, call.expected, call.mistakes, call.accepted) == (
        "x",
        1,
        {"two": 2},
        {"three": 3},
    )


def test_a_failing_master_is_named(worker: Worker) -> None:
    with pytest.raises(EngineError, match=r"lesson.*'bad'.*ZeroDivisionError"):
        worker.reference(Plan("lesson", (PlanCell("bad", "given", "1/0"),)), SECRET)


def test_a_server_that_cannot_start_says_why() -> None:
    broken = Worker(warm=["no_such_module_at_all"])
    with broken, pytest.raises(EngineError, match="no_such_module_at_all"):
        broken.run(plan("1"), SECRET)


def test_what_bubblewrap_started_ends_with_it() -> None:
    # It is killed at a moment when what it started does not look after itself yet.
    wrapper = subprocess.Popen(
        ["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, text=True
    )
    with wrapper:
        assert wrapper.stdout
        inside = psutil.Process(int(wrapper.stdout.readline()))
        end(wrapper)
        inside.wait(timeout=60)


def test_a_server_whose_parent_is_gone_in_the_middle_ends() -> None:
    with Worker(warm=(), tier="C") as mine:
        mine.wait_ready()
        read, write = os.pipe()
        socket.send_fds(mine._socket, [(100).to_bytes(4, "big")], [read, write])
        os.close(read)
        os.close(write)
        mine._socket.shutdown(socket.SHUT_RDWR)
        mine._server.wait(timeout=60)
        assert mine._home is not None and not Path(mine._home).exists()


def test_folders_of_any_depth_are_removed(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home")
    folders.home.mkdir()
    folders.make()
    place = os.open(folders.work, os.O_RDONLY)
    for _ in range(1_500):  # deeper than Python's recursion
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    folders.remove()
    assert not folders.home.exists()


def test_no_file_descriptor_is_left(worker: Worker) -> None:
    run(worker, CHECK)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run(worker, CHECK)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_child_sees_three_descriptors_and_its_pipe(worker: Worker) -> None:
    seen = run(
        worker, "import os", "expect(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])"
    )
    assert seen.cells["c1"].values == ([0, 1, 2, 3],)


def test_what_a_cell_leaves_in_its_folders_is_gone(worker: Worker) -> None:
    left = run(
        worker,
        "import os, tempfile\nopen('locked', 'w').close()\nos.mkdir('shut')\n"
        "os.open('shut/file', os.O_CREAT)\nos.mkdir('none', 0)\nos.symlink('/', 'link')\n"
        "here = os.getcwd()\nfor n in range(1_500):\n    os.mkdir('d')\n    os.chdir('d')\n"
        "os.chdir(here)\ntempfile.mkdtemp()",
        "expect(sorted(os.listdir('.')))",
    )
    assert left.cells["c1"].values == (["d", "link", "locked", "none", "shut"],)
    seen = run(worker, "import os", "expect([os.listdir('.'), os.listdir(os.environ['TMPDIR'])])")
    assert seen.cells["c1"].values == ([[], []],)


def test_files_of_the_lesson_are_there_to_read(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "deep.txt").write_text("deep")
    (tmp_path / "helper.py").write_text("value = 7")
    backups = ("x.ipynb~", "x.ipynb.orig", "x.ipynb.bak", "#x.ipynb#", "X.IPYNB", "helper.py~")
    for name in ("solution.ipynb", *backups):
        (tmp_path / name).write_text("not this")
    (tmp_path / ".hidden").write_text("nor this")
    (tmp_path / "link").symlink_to("/etc/passwd")
    tries = """
import os, pathlib, helper
def fails(attempt):
    try: attempt()
    except OSError: return True
    return False
data, deep = pathlib.Path('data.csv'), pathlib.Path('more/deep.txt')
spoilt = [
    fails(lambda: data.write_text('x')),
    fails(lambda: deep.unlink()),
    fails(lambda: deep.rename('mine')),
    fails(lambda: os.link(data.resolve(), 'mine')),
    fails(lambda: os.truncate(data, 0)),
    fails(lambda: os.rmdir(deep.parent.resolve())),
]
"""
    cells = plan(
        tries,
        "expect([spoilt, helper.value, data.read_text(), deep.read_text()])",
        "expect(sorted(os.listdir('.')))",
    )
    seen = worker.run(cells, SECRET, files=tmp_path)
    assert seen.cells["c1"].values == ([[True] * 6, 7, "1,2", "deep"],)
    assert seen.cells["c2"].values == (["__pycache__", "data.csv", "helper.py", "more"],)
    assert (tmp_path / "data.csv").read_text() == "1,2"


@pytest.mark.parametrize("mapped", [False, True], ids=["named", "mapped"])
def test_what_takes_disk_is_seen_behind_names_that_change(mapped: bool, tmp_path: Path) -> None:
    folders, limits = Folders(tmp_path), Limits(disk_bytes=2**20)
    folders.make()
    deep = folders.work / "a" / "b" / "c"
    deep.mkdir(parents=True)
    with (deep / "large").open("wb") as file:
        file.write(bytes(2**21))
        if mapped:
            (deep / "large").unlink()
        over = threading.Event()

        def rename() -> None:
            while not over.is_set():
                for old, new in ("ab", "ba"):
                    (folders.work / old).rename(folders.work / new)

        thread = threading.Thread(target=rename)
        thread.start()
        try:
            # It is looked at five times a second.
            assert any(folders.over(limits, os.getpid()) for _ in range(10))
        finally:
            over.set()
            thread.join()
    assert not mapped or not folders.over(limits, os.getpid())


def test_folders_deeper_than_can_be_counted_are_too_much(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folders.make()
    place = folders.work
    for depth in range(120):
        assert folders.over(Limits(), os.getpid()) == (depth > 100)
        place = place / "d"
        place.mkdir()


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../../out"])
def test_files_stay_within_their_folder(name: str, tmp_path: Path) -> None:
    folders = Folders(tmp_path / "home")
    folders.home.mkdir()
    folders.make()
    with pytest.raises(ValueError, match="not within"):
        folders.fill({name: b"x"})
    assert not list(tmp_path.rglob("out"))


def test_files_beside_a_notebook_have_a_limit(tmp_path: Path, worker: Worker) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(worker.limits.disk_bytes + 1)  # takes no room
    with pytest.raises(EngineError, match="more than half of the limits"):
        worker.run(plan(CHECK), SECRET, files=tmp_path)
    (tmp_path / "large").unlink()
    # As many small ones as are let in have room, wherever a notebook is run.
    limits = replace(worker.limits, files=100, disk_bytes=2**20)
    for number in range(35):
        (tmp_path / f"{number}").write_text("x")
    files = read_files(tmp_path, limits)
    with Worker(limits, warm=(), tier=worker.tier) as small:
        assert small.run(plan("expect(open('34').read())"), SECRET, files=files).cells
    for number in range(35, 36):
        (tmp_path / f"{number}").write_text("x")
    with pytest.raises(FilesError):
        read_files(tmp_path, limits)


@pytest.mark.parametrize(
    ("name", "spoilt", "check"),
    [
        ("list", "list = [1]", "expect(list((1,)))"),
        ("torch", "import numpy\ntorch = numpy", "expect(torch.ones(1))"),
    ],
)
def test_a_name_that_means_something_else_is_told(
    worker: Worker, name: str, spoilt: str, check: str
) -> None:
    cells = (
        PlanCell("given", "given", "import torch"),
        PlanCell("own", "own", spoilt),
        PlanCell("check", "check", check),
        PlanCell("other", "check", CHECK),
    )
    seen = worker.run(Plan("test", cells), SECRET)
    assert seen.cells["check"].error == marking.Raised(marking.REBOUND, name)
    assert seen.cells["other"].values == (4,)


def test_helpers_of_the_lab_are_put_back(worker: Worker) -> None:
    cells = (
        PlanCell("given", "given", "from autograder.lab import Draw"),
        PlanCell("own", "own", "Draw = None"),
        PlanCell("check", "check", "expect(tuple(Draw()(2).shape))"),
    )
    assert worker.run(Plan("test", cells), SECRET).cells["check"].values == ((2,),)


def test_global_hooks_left_behind_do_not_reach_a_check(worker: Worker) -> None:
    seen = run(
        worker,
        "import torch\nfrom torch.nn.modules import module\n"
        "module.register_module_forward_hook(lambda m, i, o: o * 0)",
        "expect(torch.nn.Identity()(torch.ones(1)))",
    )
    (value,) = seen.cells["c1"].values
    assert value.array.tolist() == [1.0]


def test_no_reference_is_in_the_memory_that_children_inherit() -> None:
    with Worker(Limits(cell_seconds=100)) as worker:  # the search takes a while
        _search_for_the_reference(worker)


def _search_for_the_reference(worker: Worker) -> None:
    secret_text = "expected_value_" + "of_the_reference"
    master = Plan(
        "test",
        (
            PlanCell("a", "given", "def f(): return 1"),
            PlanCell("b", "check", f"expect(f(), 1, 'x', mistakes={{'{secret_text}': 2}})"),
        ),
    )
    assert list(worker.reference(master, SECRET)["b"][0].mistakes) == [secret_text]
    # Looked for in halves, so that the search itself doesn't put it into memory.
    search = """
found = False
first, second = b"expected_value_", b"of_the_reference"
memory = open("/proc/self/mem", "rb", 0)
for line in open("/proc/self/maps"):
    place, mode, *_ = line.split()
    start, end = (int(part, 16) for part in place.split("-"))
    if mode[0] != "r" or "[v" in line:
        continue
    try:
        memory.seek(start)
        part = memory.read(end - start)
    except OSError:
        continue
    at = part.find(first)
    while at >= 0:
        found = found or part[at + len(first) :][: len(second)] == second
        at = part.find(first, at + 1)
"""
    there = "kept = 'expected_value_' + ''.join(['of_the', '_reference'])"
    control = run(worker, there, search, "expect(found)")
    assert control.cells["c2"].values == (True,), "the search itself works"
    seen = run(worker, search, "expect(found)")
    assert seen.cells["c0"].ended == "ok"
    assert seen.cells["c1"].values == (False,)


@pytest.fixture(scope="module")
def patient(worker: Worker) -> Iterator[Worker]:
    """A worker of the same tier, with time for a first convolution on a busy machine."""
    with Worker(Limits(cell_seconds=60), tier=worker.tier) as running:
        yield running


WORKS = {
    "conv, backward and a step": """
import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
x = torch.randn(8, 1, 9, 9)
net(x)
before = net[0].weight.clone()
torch.optim.Adam(net.parameters()).step(lambda: net(x).square().sum().backward() or 0.0)
works = not torch.equal(before, net[0].weight)
""",
    "checkpoint": """
import torch
from torch.utils.checkpoint import checkpoint
x = torch.ones(3, requires_grad=True)
checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
works = torch.equal(x.grad, torch.cos(x))
""",
    "a backward within a backward, 61 deep": """
import torch
class Deep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x.clone()
    @staticmethod
    def backward(ctx, grad):
        if ctx.depth:
            with torch.enable_grad():
                x = torch.ones(1, requires_grad=True)
                Deep.apply(x, ctx.depth - 1).sum().backward()
        return grad, None
x = torch.ones(1, requires_grad=True)
Deep.apply(x, 61).sum().backward()
works = x.grad.item() == 1
""",
    "a plot": """
%matplotlib inline
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.title("Ä")
plt.savefig("plot.png")
works = open("plot.png", "rb").read(4) == b"\\x89PNG"
plt.show()
""",
    "saving and loading": """
import torch, numpy, json, os, shutil, tempfile, sqlite3
torch.save({"a": torch.ones(2)}, "a.pt")
numpy.save("a.npy", numpy.ones(2))
json.dump([1], open("a.json", "w"))
shutil.copyfile("a.json", "b.json"); os.replace("b.json", "c.json"); os.remove("c.json")
with tempfile.TemporaryDirectory() as folder: open(folder + "/x", "w").write("x")
book = sqlite3.connect("a.db"); book.execute("create table t (x)"); book.commit()
works = torch.load("a.pt")["a"].sum() == 2 and numpy.load("a.npy").sum() == 2
""",
    "threads": """
import torch
from concurrent.futures import ThreadPoolExecutor
torch.set_num_threads(2)
with ThreadPoolExecutor(4) as pool:
    made = list(pool.map(lambda n: (torch.ones(300, 300) @ torch.ones(300, 300)).sum(), range(8)))
works = len(made) == 8
torch.set_num_threads(1)
""",
    "asyncio": """
import asyncio
async def one(n):
    await asyncio.sleep(0)
    return await asyncio.to_thread(lambda: n)
works = await asyncio.gather(one(1), one(2)) == [1, 2]
""",
    "a loader in this process": """
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(6.0))
works = sum(batch[0].sum() for batch in DataLoader(data, 2, shuffle=True, num_workers=0)) == 15
""",
}


@pytest.mark.parametrize("name", WORKS)
def test_what_lessons_need_works(name: str, patient: Worker) -> None:
    seen = run(patient, WORKS[name], "expect(bool(works))")
    assert seen.cells["c0"].error is None, seen.cells["c0"].error
    assert seen.cells["c1"].values == (True,)
