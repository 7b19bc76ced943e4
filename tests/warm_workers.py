"""Warm workers that outlive a run of the grader, as warming them takes seconds.

Tests that run the grader in their own process share them. How workers are started and ended has
tests of its own, which use others.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import Any

from autograder.engine import Limits, Tier, Worker, tiers
from autograder.engine.starting import start_worker


class Kept(Worker):
    """A worker that goes back to the shelf when it is closed, unless something runs in it."""

    runs = 0
    broken = False

    def reference(self, *given: Any, **more: Any) -> Any:
        return self._noted(super().reference, *given, **more)

    def run(self, *given: Any, **more: Any) -> Any:
        return self._noted(super().run, *given, **more)

    def _noted(self, run: Callable[..., Any], *given: Any, **more: Any) -> Any:
        self.runs += 1
        try:
            return run(*given, **more)
        except BaseException:
            self.broken = True
            raise
        finally:
            self.runs -= 1

    def stop(self) -> None:
        if self.runs or self.broken:
            self.broken = True
            super().stop()

    def close(self) -> None:
        if self.runs or self.broken:
            self.end()
        else:
            SHELF.append(self)
            if len(SHELF) > _MOST:
                SHELF.pop(0).end()

    def end(self) -> None:
        self.broken = True
        super().close()

    @property
    def setting(self) -> tuple[Limits, bool, Tier]:
        return self.limits, self._figures, self.tier


SHELF: list[Kept] = []
_MOST = 4


def start(limits: Limits | None = None, **how: Any) -> Worker:
    """As :func:`autograder.engine.start_worker`, from the shelf where there is one."""
    tier, figures = how.get("tier") or tiers.best(), how.get("figures", False)
    if tier == "D":
        return start_worker(limits, **how)
    setting = limits or Limits(), figures, tier
    for worker in reversed(SHELF):
        if worker.setting == setting:
            SHELF.remove(worker)
            break
    else:
        worker = Kept(limits, figures=figures, tier=tier)
    worker._tell = how.get("tell")
    return worker


def end_all() -> None:
    """End those on the shelf, for tests that count processes."""
    while SHELF:
        SHELF.pop().end()


atexit.register(end_all)
