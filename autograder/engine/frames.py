"""Length-prefixed JSON over a pipe or socket: the only thing that comes back from a child."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

MAX_FRAME = 24_000_000  # bytes
_MOST_ITEMS = 300_000  # in all lists and objects; each takes some 80 bytes once it is read
_HEAD = 4
_LATE_SECONDS = 1.0  # for the rest of a frame that has begun to come in time


class BadFrame(ValueError):
    """Bytes that are no frame."""


class Closed(EOFError):
    """The other end is closed."""


class TimeUp(TimeoutError):
    """No whole frame came before the deadline."""


def packed(message: object) -> bytes:
    """A frame: four bytes of length, then JSON."""
    data = json.dumps(message, default=str).encode()
    return len(data).to_bytes(_HEAD, "big") + data


def send(fd: int, message: object) -> None:
    """Write one frame, blocking until it is taken.

    Raises:
        OSError: the other end is gone.
    """
    view = memoryview(packed(message))
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int, deadline: float | None = None, *, most: int = MAX_FRAME) -> Any:
    """Read one frame.

    Args:
        deadline: a time of ``time.monotonic()``.
        most: bytes.

    Raises:
        TimeUp: the deadline passed. Closed: end of file. BadFrame: too large, or not JSON.
    """
    size = int.from_bytes(_read(fd, _HEAD, deadline), "big")
    if size > most:
        raise BadFrame("a frame is too large")
    return parsed(_read(fd, size, deadline), most)


def parsed(data: bytes, most: int = MAX_FRAME) -> Any:
    """What is in a frame.

    Raises:
        BadFrame: too large, or not JSON.
    """
    if len(data) > most:
        raise BadFrame("a frame is too large")
    if most == MAX_FRAME and sum(map(data.count, (b",", b"[", b"{"))) > _MOST_ITEMS:
        raise BadFrame("a frame has too many items")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFrame("a frame is not JSON") from error


def _read(fd: int, size: int, deadline: float | None) -> bytes:
    data = bytearray()  # as many small parts would each keep memory of their own
    began = time.monotonic()
    while len(data) < size:
        left = None
        if deadline is not None:
            now = time.monotonic()
            # What is there already came in time, however late this process gets to read it.
            left = max(0.0, deadline - now)
            if now >= deadline and data:
                left = max(deadline, began) + _LATE_SECONDS - now
                if left <= 0:
                    raise TimeUp
        if not select.select([fd], [], [], left)[0]:
            raise TimeUp
        part = os.read(fd, min(size - len(data), 1 << 16))
        if not part:
            raise Closed
        data += part
    return bytes(data)
