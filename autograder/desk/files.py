"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, over an older one that may be read-only.

    A link is replaced, never followed: who made it may have been anybody.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Always the same name: what a killed process leaves is gone with the next try.
    half = path.with_name(f".{path.name}.half")
    try:
        half.write_text(text, "utf-8", "backslashreplace")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def write_named(path: Path, text: str) -> None:
    """As :func:`write_text`, where a person named the file.

    A link, a pipe or a device, as ``/dev/stdout``, is written to, and stays what it is.
    """
    if _is_special(path):
        path.write_text(text, "utf-8", "backslashreplace")
    else:
        write_text(path, text)


def must_be_writable(path: Path) -> None:
    """See that :func:`write_named` will be able to write there; nothing is changed.

    Raises:
        OSError: it won't.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    place = path if _is_special(path) else path.parent
    if not place.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def _is_special(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and not path.is_file())
