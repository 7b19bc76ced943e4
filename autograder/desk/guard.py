"""One grader at a time on a course."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from .errors import GradingError
from .files import write_text


@contextlib.contextmanager
def alone(state: Path) -> Iterator[None]:
    """Hold the lock in the folder ``state``, which is made where it is missing.

    The system frees the lock of a process that ends, however it ends.

    Raises:
        GradingError: another process holds it.
    """
    state.mkdir(parents=True, exist_ok=True)
    lock, holder = FileLock(state / "lock"), state / "holder"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        try:
            who = holder.read_text("utf-8")
        except OSError:
            who = "who is not known"
        raise GradingError(
            f"{state.parent}: another `autograder grade` is at work on this course ({who}). "
            "Wait until it is done, or end it; nothing was changed"
        ) from None
    try:
        now = datetime.datetime.now().astimezone().isoformat(" ", "seconds")
        write_text(holder, f"process {os.getpid()} on {socket.gethostname()}, since {now}")
        yield
    finally:
        lock.release()
