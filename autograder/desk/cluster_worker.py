"""What runs in the Dask workers of :mod:`autograder.desk.cluster`: warm workers for tasks.

A Dask worker is a process with some threads. Each of its threads that runs a task has a warm
worker of this project, which stays for the tasks to come, whoever sends them.
"""

from __future__ import annotations

import functools
import pickle
import platform
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import distributed

import autograder
from autograder.engine import EngineError

from .kept import code_digest
from .pool import Place, Setup

STOPPED = "grading was stopped"
_KEPT = 16  # shared values; a lesson has one in a run
_LIBRARIES = ("torch", "numpy", "ipython", "matplotlib", "distributed")


@dataclass(frozen=True)
class Run:
    """What goes with each task: whose it is, and what it needs here."""

    id: str
    setup: Setup
    installed: Mapping[str, str]


@dataclass(frozen=True)
class Shared:
    """A pickled value that many tasks have. Pickled itself, it is its name only."""

    id: str
    data: bytes = b""

    def __reduce__(self) -> tuple[type[Shared], tuple[str]]:
        return Shared, (self.id,)


@dataclass(frozen=True)
class Lacks:
    """In place of a result: this Dask worker does not know the task's shared values."""


@functools.cache
def installed() -> dict[str, str]:
    """What a verdict may depend on, on this machine."""
    return {
        "autograder": f"{autograder.__version__} ({code_digest()[:8]})",
        "Python": platform.python_version(),
        # Another build of torch will do: nothing runs on a GPU.
        **{name: metadata.version(name).partition("+")[0] for name in _LIBRARIES},
    }


def difference(found: object, wanted: Mapping[str, str]) -> str:
    """In words, where ``found`` is not what is wanted; '' where it is."""
    if not isinstance(found, Mapping):
        return f"can't run this package ({found!r})"
    return ", ".join(
        f"has {name} {found.get(name)} where {version} is wanted"
        for name, version in wanted.items()
        if found.get(name) != version
    )


_known: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()
_idle: list[tuple[Setup, Place]] = []
_busy: dict[Place, str] = {}  # whose task runs there
_over: set[str] = set()


def greet(run: Run, dask_worker: distributed.Worker) -> dict[str, str]:
    """What this machine has; where it is the right thing, a worker warms for each thread."""
    if installed() == run.installed:
        with _lock:
            _drop_others(run.setup)
            for _ in range(len(_idle) + len(_busy), dask_worker.state.nthreads):
                _idle.append((run.setup, Place(run.setup)))
    return installed()


def hold(values: Mapping[str, bytes]) -> None:
    """Keep shared values for the tasks to come."""
    with _lock:
        for name, data in values.items():
            _known[name] = pickle.loads(data)
        while len(_known) > _KEPT:
            _known.popitem(last=False)


def work(run: Run, call: bytes, values: Mapping[str, bytes]) -> Any:
    """Run a task.

    Args:
        call: the function and its arguments, pickled. Some may be :class:`Shared`.
        values: such shared values, where they come with the task.
    """
    lacks = difference(installed(), run.installed)
    if lacks:  # it came later than the greeting
        raise EngineError(f"a Dask worker {lacks}; install the same on all machines")
    hold(values)
    function, args = pickle.loads(call)
    try:
        args = [_known[arg.id] if isinstance(arg, Shared) else arg for arg in args]
    except KeyError:
        return Lacks()
    with _lock:
        if run.id in _over:
            raise EngineError(STOPPED)
        _drop_others(run.setup)
        place = _idle.pop()[1] if _idle else Place(run.setup)
        _busy[place] = run.id
    try:
        return place.run(function, *args)
    finally:
        with _lock:
            del _busy[place]
            over = run.id in _over
            if not over:
                _idle.append((run.setup, place))
        if over:
            place.close()


def _drop_others(setup: Setup) -> None:
    """Close idle places that were set up otherwise."""
    for other in [entry for entry in _idle if entry[0] != setup]:
        _idle.remove(other)
        other[1].close()


def stop(run: str) -> None:
    """End a run's tasks, and all that is warm and idle."""
    with _lock:
        _over.add(run)
        idle = [place for _, place in _idle]
        _idle.clear()
        for place, whose in _busy.items():
            if whose == run:
                place.stop()
    for place in idle:
        place.close()
