"""Starts the kind of worker that a machine can have."""

from __future__ import annotations

from collections.abc import Callable

from . import tiers
from .limits import Limits
from .tiers import Tier
from .worker import Worker


def start_worker(
    limits: Limits | None = None,
    *,
    figures: bool = False,
    tell: Callable[[int, int], None] | None = None,
    tier: Tier | None = None,
    brief: bool = False,
) -> Worker:
    """A worker of the given tier, or of the best one that works here; see :class:`Worker`."""
    tier = tier or tiers.best()
    if tier == "D":
        from .unforked import Unforked  # nbclient is slow to import

        return Unforked(limits, figures=figures, tell=tell)
    return Worker(limits, figures=figures, tell=tell, tier=tier, brief=brief)
