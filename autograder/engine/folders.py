"""The folders that a notebook sees: the only place where it can write, emptied after each one."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .limits import Limits

_DEEPEST = 100  # folders in folders


@dataclass(frozen=True)
class Folders:
    """Below ``home``: a working folder, one for temporary files, and the lesson's own files.

    A notebook may write into the first two, read the third, and not even see what stands in
    ``canary``: that is what the self-probe tries to read.
    """

    home: Path

    @property
    def work(self) -> Path:
        """The working folder."""
        return self.home / "work"

    @property
    def temporary(self) -> Path:
        """Where ``tempfile`` puts its files."""
        return self.home / "tmp"

    @property
    def data(self) -> Path:
        """The files that come with the lesson."""
        return self.home / "data"

    @property
    def canary(self) -> Path:
        """A file that is out of reach."""
        return self.home / "canary"

    def make(self) -> None:
        """Make them, where they are missing."""
        for folder in (self.work, self.temporary, self.data):
            folder.mkdir(exist_ok=True)
        if not self.canary.exists():
            self.canary.write_text("out of reach")

    def empty(self) -> None:
        """Remove everything a notebook left, whatever its modes and however deep its folders."""
        self.home.chmod(0o700)  # it may change modes and times of all of them, so they
        self.canary.unlink(missing_ok=True)  # could carry a word to the next notebook
        self.make()  # without walls it may have removed them
        for folder in (self.work, self.temporary, self.data):
            _empty(folder)
        for folder in (self.work, self.temporary, self.data, self.home):
            os.utime(folder)

    def fill(self, files: dict[str, bytes]) -> None:
        """Put a lesson's files into ``data``, and links to them into the working folder.

        Raises:
            ValueError: a name leads out of the folder. OSError: there is no room.
        """
        for name, content in files.items():
            path = self.data / name
            if ".." in path.parts or not path.is_relative_to(self.data):
                raise ValueError(f"{name!r} is not within a lesson's folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in self.data.iterdir():
            (self.work / path.name).symlink_to(path)

    def over(self, limits: Limits, pid: int) -> bool:
        """Whether more disk is taken now than may be, or nobody can see how much.

        Files that were removed take room as long as the process ``pid`` holds them.
        """
        size, files = limits.disk_bytes - self._removed(limits, pid), limits.files
        try:
            for state in itertools.chain(_inside(self.work), _inside(self.temporary)):
                files -= 1
                size -= state.st_blocks * 512
                if size < 0 or files < 0:
                    return True
        except OSError:  # locked by its mode, or deeper than can be counted
            return True
        return size < 0

    def _removed(self, limits: Limits, pid: int) -> int:
        """The bytes of files without a name that a process has open, or mapped.

        Of those that are mapped only, no size is known: each counts as the largest that may be.
        """
        process = Path("/proc", str(pid))
        sizes: dict[int, int] = {}
        with contextlib.suppress(OSError):  # it ended
            for line in (process / "maps").read_text(errors="replace").splitlines():
                if line.endswith(" (deleted)") and f" {self.home}/" in line:
                    sizes[int(line.split()[4])] = limits.file_bytes
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    state = descriptor.stat()
                    if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                        sizes[state.st_ino] = state.st_blocks * 512
        return sum(sizes.values())

    def remove(self) -> None:
        """Remove them, and ``home``."""
        with contextlib.suppress(OSError):
            self.empty()  # as deep as they may be, which rmtree doesn't stand
        shutil.rmtree(self.home, ignore_errors=True)


def _inside(name: str | Path, above: int | None = None, depth: int = 0) -> Iterator[os.stat_result]:
    """The state of each thing in a folder, however fast the folders on the way are renamed.

    Raises:
        OSError: a folder can't be looked into, or folders are too deep.
    """
    if depth > _DEEPEST:
        raise OSError(errno.ENAMETOOLONG, "too deep")
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # gone meanwhile
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        yield from _inside(entry.name, folder, depth + 1)
    finally:
        os.close(folder)


def _empty(folder: Path) -> None:
    """Empty a folder without recursion: what stands in its folders is moved up, then they go."""
    number, unused = itertools.count(), f".{secrets.token_hex(8)}"  # nobody has guessed that name
    folder.chmod(0o700)
    while entries := list(folder.iterdir()):
        for entry in entries:
            if not _is_folder(entry):
                entry.unlink()
                continue
            entry.chmod(0o700)
            for inner in list(entry.iterdir()):
                if _is_folder(inner):
                    inner.chmod(0o700)  # without, it can't be moved
                    inner.rename(folder / f"{unused}-{next(number)}")
                else:
                    inner.unlink()
            entry.rmdir()


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)  # where a link leads to may not be looked at
