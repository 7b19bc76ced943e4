"""Ways to get marks for a wrong answer, or to take marks from right ones.

Each attack is an answer to one exercise of a small course; all other exercises of the same
submission are answered rightly. The exercises are one task, "return 2 * x", with a check cell of
another kind each, as courses have them. ``STOCK`` holds those cells, ``OURS`` the same checks as
values. What looks for a check's own values (``STRIPPED``) knows both: it would find those of
``OURS``, too, in check cells that still held what they expect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Notebook = dict[str, Any]
Stock = Literal["gives marks", "loses other marks", "does as well", "has no such thing"]

SETUP = """import sys
import numpy
import torch
from autograder.lab import Draw, Todo, expect"""

RIGHT = {
    "by_equal": "def by_equal(x):\n    return 2 * x",
    "by_testing": "def by_testing(x):\n    return 2 * x",
    "by_sum": "def by_sum(x):\n    return 2 * x",
    "by_list": "def by_list(x):\n    return [2 * v for v in x]",
    "by_expect": "def by_expect(x):\n    return 2 * x",
    "honest": "def honest(x):\n    return 2 * x",
}

_TENSOR = "x = torch.tensor([1.0, 2.0])\nwant = 2 * x\n"
STOCK = {
    "by_equal": _TENSOR + "assert torch.equal(by_equal(x), want)\n"
    "assert torch.allclose(by_equal(x), want)",
    "by_testing": _TENSOR + "numpy.testing.assert_allclose(by_testing(x), want)",
    "by_sum": _TENSOR + "assert bool((by_sum(x) + x == 3 * x).all())",
    "by_list": "assert by_list([1.0, 2.0]) == [2.0, 4.0]",
    "by_expect": "expect(by_expect(torch.ones(2)), torch.ones(2) * 2, 'twice one')",
    "honest": _TENSOR + "assert torch.equal(honest(x), want)",
}


def _ours(name: str) -> str:
    if name == "by_list":
        return "expect(lambda: by_list([1.0, 2.0]), [2.0, 4.0], 'twice a list')"
    return (
        "_draw = Draw()\n_a = _draw(2)\n"
        f"expect(lambda: {name}(_a.clone()), 2 * _a, 'twice a tensor')\n"
        f"expect({name}(_a.clone()), 2 * _a, 'the same again')"
    )


OURS = {name: _ours(name) for name in RIGHT}


@dataclass(frozen=True)
class Attack:
    """An attack on ``exercise``: its answer cell's source, and what is done to the file."""

    exercise: str
    answer: str
    stock: Stock = "gives marks"
    spoil: Callable[[Notebook], None] | None = None


def _skip_execution(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"].setdefault("tags", []).append("skip-execution")


def _deadly(code: str, stock: Stock = "loses other marks") -> Attack:
    return Attack("by_equal", f"{code}\ndef by_equal(x):\n    return x", stock)


def _frame(*lines: str) -> Attack:
    """Writes on every descriptor it may write to, in the hope of the grader's pipe."""
    body = "\n    ".join(lines)
    return Attack(
        "by_equal",
        f"import json, os\ndef by_equal(x):\n    {body}\n    for fd in range(3, 20):\n"
        "        try: os.write(fd, len(data).to_bytes(4, 'big') + data)\n"
        "        except OSError: pass\n    return x",
        "has no such thing",
    )


_WRONG = "\ndef by_equal(x):\n    return x"
# What `expect` was given beside the value, where it was given anything.
_SEEN = "\ndef {}(x):\n    return seen[-1] if seen else x"

ATTACKS = {
    "torch.equal and allclose patched": Attack(
        "by_equal", "torch.equal = torch.allclose = lambda *a, **k: True" + _WRONG
    ),
    "numpy.testing patched": Attack(
        "by_testing",
        "numpy.testing.assert_allclose = lambda *a, **k: None\ndef by_testing(x):\n    return x",
    ),
    "Tensor.__add__ patched": Attack(
        "by_sum", "torch.Tensor.__add__ = lambda a, b: 3 * b\ndef by_sum(x):\n    return x"
    ),
    "an object that equals everything": Attack(
        "by_list",
        "class Same:\n    __class__ = list\n    def __eq__(self, other): return True\n"
        "def by_list(x):\n    return Same()",
    ),
    "a list that equals everything": Attack(
        "by_list",
        "class Same(list):\n    def __eq__(self, other): return True\n"
        "def by_list(x):\n    return Same(x)",
    ),
    "floats that equal everything": Attack(
        "by_list",
        "class Same(float):\n    def __eq__(self, other): return True\n"
        "    __sub__ = __rsub__ = __abs__ = lambda *a: 0.0\n"
        "def by_list(x):\n    return [Same(v) for v in x]",
    ),
    "a tensor with __torch_function__": Attack(
        "by_equal",
        "class Same(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, *a, **k): return True\n"
        "def by_equal(x):\n    return x.as_subclass(Same)",
    ),
    "a number displayed before the assert": Attack(
        "by_equal", "def by_equal(x):\n    get_ipython().displayhook(4)\n    return x"
    ),
    "an input transformer": Attack(
        "by_equal",
        "get_ipython().input_transformers_cleanup.append(\n"
        "    lambda lines: ['pass\\n'] if 'by_equal' in ''.join(lines) else lines)" + _WRONG,
    ),
    "an AST transformer": Attack(
        "by_equal",
        "import ast\nclass NoAsserts(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node):\n"
        "        return None if 'by_equal' in ast.unparse(node) else node\n"
        "get_ipython().ast_transformers.append(NoAsserts())" + _WRONG,
    ),
    "showtraceback patched": Attack(
        "by_equal",
        "get_ipython().showtraceback = get_ipython()._showtraceback = lambda *a, **k: None"
        + _WRONG,
        "does as well",
    ),
    "do_execute patched": Attack(
        "by_equal",
        "kernel = getattr(get_ipython(), 'kernel', None)\n"
        "if kernel is not None:\n"
        "    do = kernel.do_execute\n"
        "    async def do_execute(code, *a, **k):\n"
        "        if 'assert' in code and 'by_equal' in code:\n"
        "            return {'status': 'ok', 'execution_count': 1, 'payload': [],\n"
        "                    'user_expressions': {}}\n"
        "        return await do(code, *a, **k)\n"
        "    kernel.do_execute = do_execute" + _WRONG,
    ),
    "a trace function": Attack(
        "by_equal",
        "seen = []\ndef trace(frame, event, arg):\n    space = frame.f_globals\n"
        "    if 'by_equal' in frame.f_code.co_names and 'want' in space:\n"
        "        space['want'] = space['x']\n"
        "    if frame.f_code.co_name == 'expect': seen.extend(frame.f_locals.get('rest', ())[:1])\n"
        "    return trace" + _SEEN.format("by_equal") + "\nsys.settrace(trace)",
    ),
    "a profiler": Attack(
        "by_testing",
        "seen = []\ndef profile(frame, event, arg):\n    space = frame.f_globals\n"
        "    if 'by_testing' in frame.f_code.co_names and 'want' in space:\n"
        "        space['want'] = space['x']\n"
        "    if frame.f_code.co_name == 'expect': seen.extend(frame.f_locals.get('rest', ())[:1])"
        + _SEEN.format("by_testing")
        + "\nsys.setprofile(profile)",
    ),
    "an event of IPython": Attack(
        "by_equal",
        "def patch(info):\n    torch.equal = torch.allclose = lambda *a, **k: True\n"
        "get_ipython().events.register('pre_run_cell', patch)" + _WRONG,
    ),
    "a value that is a program once it is unpickled": Attack(
        "by_equal",
        "import os\nclass Bomb:\n    def __reduce__(self): return os._exit, (0,)\n"
        "def by_equal(x):\n    return Bomb()",
        "has no such thing",
    ),
    "skip-execution tags": Attack(
        "by_equal", "def by_equal(x):\n    return x", "gives marks", _skip_execution
    ),
    "the caller's names": Attack(
        "by_equal",
        "seen = []\ndef by_equal(x):\n    for depth in range(1, 9):\n"
        "        try: frame = sys._getframe(depth)\n        except ValueError: break\n"
        "        for name in ('want', 'expected'):\n"
        "            if name in frame.f_globals: return frame.f_globals[name]\n"
        "        seen.extend(frame.f_locals.get('rest', ())[:1])\n"
        "    return seen[-1] if seen else x",
    ),
    "the check's constants": Attack(
        "by_list",
        "def by_list(x):\n    for depth in range(1, 9):\n"
        "        try: code = sys._getframe(depth).f_code\n        except ValueError: break\n"
        "        numbers = [c for c in code.co_consts if type(c) is float]\n"
        "        if numbers and numbers[-2:] != x: return numbers[-2:]\n"
        "    return list(x)",
    ),
    "everything gc knows": Attack(
        "by_equal",
        "import gc\nseen = []\ndef by_equal(x):\n"
        "    for t in gc.get_objects():\n"
        "        if type(t) is dict and isinstance(t.get('want'), torch.Tensor): return t['want']\n"
        "        if type(t) is tuple and t[1:] == ('twice a tensor',): seen.append(t[0])\n"
        "    return seen[-1] if seen else x",
    ),
    "the check's source in the history": Attack(
        "by_list",
        "def by_list(x):\n    import ast\n"
        "    source = get_ipython().user_ns['In'][-1]\n"
        "    part = source.split('==')[-1]\n"
        "    if 'expect(' in part: part = part.split('), ')[1].rsplit(', ', 1)[0]\n"
        "    try: return ast.literal_eval(part.strip())\n"
        "    except (SyntaxError, ValueError): return list(x)",
    ),
    "expect replaced": Attack(
        "by_expect", "def expect(*a, **k): pass\ndef by_expect(x):\n    return x"
    ),
    "expect replaced in its module": Attack(
        "by_expect",
        "import autograder.lab, autograder.marking, importlib\n"
        "marking = autograder.marking\n"
        "inside = importlib.import_module('autograder.marking.judge')\n"
        "for module in (marking, inside):\n    module.same = lambda *a: True\n"
        "def by_expect(x):\n    return x",
    ),
    "os._exit": _deadly("import os\nos._exit(0)"),
    "SIGKILL of itself": _deadly("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    "a segfault": _deadly("import ctypes\nctypes.string_at(0)"),
    "a loop that swallows everything": _deadly(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "does as well",
    ),
    "a regex that holds the GIL": _deadly(
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')", "does as well"
    ),
    "a forged frame": _frame(
        "value = ['tensor', 'float32', [2], 'AAAAQAAAgEA=']",
        "data = json.dumps({'cell': 'by_equal', 'error': None, 'values': [value, value],"
        " 'outputs': []}).encode()",
    ),
    "a giant frame": _frame("data = b'[' + b'1,' * 20_000_000 + b'1]'"),
    "a nested frame": _frame("data = b'[' * 100_000 + b']' * 100_000"),
    "a truncated frame": _frame('data = b\'{"cell": "by_equal", "val\''),
    "late frames from a thread": Attack(
        "by_equal",
        "import threading, time, os\ndef late():\n    while True:\n        time.sleep(0.01)\n"
        "        try: os.write(3, b'\\x00\\x00\\x00\\x02{}')\n        except OSError: pass\n"
        "def by_equal(x):\n    threading.Thread(target=late, daemon=True).start()\n"
        "    time.sleep(0.1)\n    return x",
        "has no such thing",
    ),
    "giant, nested and strange values": Attack(
        "by_equal",
        "def by_equal(x):\n    nest = []\n    nest.append(nest)\n"
        "    return [nest, 10 ** 100_000, float('nan'), torch.ones(3000, 3000), {x: nest}]",
        "has no such thing",
    ),
}

STRIPPED = (
    "a trace function",
    "a profiler",
    "the caller's names",
    "the check's constants",
    "everything gc knows",
)
"""The attacks that fail because check cells go out without what they expect."""
