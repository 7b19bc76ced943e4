"""Forks of a warm process that run cells through IPython and keep nothing: the floor.

Reads plans as JSON from standard input; writes the seconds of five rounds.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import time

from autograder.engine.shell import Shell
from autograder.engine.worker import WARM


def _expect(actual: object) -> None:
    """Call what a check would call."""
    if callable(actual):
        with contextlib.suppress(Exception):
            actual()


def _child(cells: list[tuple[str, str]], shell: Shell) -> None:
    sys.stdout = sys.stderr = io.StringIO()
    os.environ["NBGRADER_EXECUTION"] = "autograde"
    os.environ["AUTOGRADER_FIGURES"] = "0"
    for _, source in cells:
        shell.run_cell(source, store_history=False)
        shell.user_ns["expect"] = _expect
    os._exit(0)


def main() -> None:
    plans = json.load(sys.stdin)
    for name in WARM:
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
    shell = Shell.start()
    shell.run_cell("None")
    rounds = []
    for _ in range(6):
        started = time.perf_counter()
        for cells in plans:
            pid = os.fork()
            if pid == 0:
                _child(cells, shell)
            os.waitpid(pid, 0)
        rounds.append(time.perf_counter() - started)
    json.dump(rounds[1:], sys.stdout)


if __name__ == "__main__":
    main()
