"""What earlier runs found, so that a submission that did not change is not run again.

A result is kept under a key of everything that it came from: the notebook's cells, the master,
the settings, the versions, and this package's own code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from autograder.course import Cell, Master
from autograder.engine import read_files
from autograder.marking import Verdict

from .files import write_text
from .pool import Setup

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("torch", "numpy", "ipython", "matplotlib", "nbgrader")


@dataclass(frozen=True)
class Kept:
    """A result as it was written, without the gradebook.

    Attributes:
        notebook: the SHA-256 of the notebook in ``autograded/``.
        tier: how well the notebook was confined when it ran; None where none ran.
    """

    key: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    unanswered: frozenset[str]
    notebook: str
    tier: str | None = None


class Shelf:
    """Kept results, a file for each submission.

    Args:
        folder: where the files are; made when the first one is written.
        setup: the engine's settings, which belong to the key.
        config: nbgrader's settings file, which belongs to it too; it may be missing.
    """

    def __init__(self, folder: Path, setup: Setup, config: Path) -> None:
        self._folder = folder
        self._limits = setup.limits
        settings = digest(config.read_bytes()) if config.is_file() else ""
        self._common = [asdict(setup), settings, _versions(), code_digest()]
        self._masters: dict[Path, list[str]] = {}

    def key(self, master: Master, cells: Sequence[Cell], *more: str) -> str:
        """The key of a submission with ``cells``; ``more`` is what else the result depends on."""
        parts = [*self._common, self._files(master), [asdict(cell) for cell in cells], more]
        return digest(json.dumps(parts).encode())

    def _files(self, master: Master) -> list[str]:
        if master.path not in self._masters:
            files = read_files(master.path.parent, self._limits)  # its sentences are there too
            shipped = [f"{name} {digest(data)}" for name, data in files.items()]
            self._masters[master.path] = [digest(master.path.read_bytes()), *shipped]
        return self._masters[master.path]

    def find(self, student: str, lesson: str, key: str, notebook: Path) -> Kept | None:
        """The result kept under ``key``, where ``notebook`` is still as it was written then."""
        # A file that can't be read, or that another version wrote, is as good as none.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self._path(student, lesson).read_text("utf-8"))
            if found["key"] == key and found["notebook"] == digest(notebook.read_bytes()):
                return Kept(
                    key,
                    tuple(Verdict(**verdict) for verdict in found["verdicts"]),
                    tuple(found["notes"]),
                    frozenset(found["unanswered"]),
                    found["notebook"],
                    found["tier"],
                )
        return None

    def keep(self, student: str, lesson: str, kept: Kept) -> None:
        """Keep a result whose marks are in the gradebook and whose notebook is written."""
        entry = {**asdict(kept), "unanswered": sorted(kept.unanswered)}
        write_text(self._path(student, lesson), json.dumps(entry))

    def _path(self, student: str, lesson: str) -> Path:
        return self._folder / student / f"{lesson}.json"


def digest(data: bytes) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def _versions() -> list[str]:
    return [platform.python_version(), *map(metadata.version, _LIBRARIES)]


@functools.cache
def code_digest() -> str:
    """The SHA-256 of this package's own files."""
    files = sorted(p for p in _PACKAGE.rglob("*") if p.suffix in (".py", ".toml"))
    return digest(b"\0".join(path.read_bytes() for path in files))
