"""Limits that the kernel keeps, with or without walls."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

from . import linux
from .limits import Limits

FRAMES = 3
"""The descriptor that a child sends its frames on."""


def limit(limits: Limits) -> None:
    """Put limits on this process that hold without any wall."""
    os.setsid()
    # With the server, also where it is killed with its parent, as when a notebook's kernel is.
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    lower(resource.RLIMIT_AS, limits.memory_bytes)
    lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    lower(resource.RLIMIT_STACK, 8 * 2**20)
    # Where memory runs out, this process goes first.
    Path("/proc/self/oom_score_adj").write_text("1000")


def keep_only(out: int) -> None:
    """Close all descriptors but the standard ones and ``out``, which becomes ``FRAMES``."""
    os.dup2(out, FRAMES)
    os.closerange(FRAMES + 1, 65_536)


def lower(what: int, value: int) -> None:
    """Lower a limit, for good."""
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))
