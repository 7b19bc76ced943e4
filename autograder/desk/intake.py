"""Takes in what a learning platform hands out: a zip or a folder of STUDENT/LESSON/FILE.

Everything in there may have been made by anybody. Names and kinds of all entries are looked at
before anything is written, and one that is not plain refuses the whole source, by its name. What
is written is counted, whatever an entry says of its size.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import io
import itertools
import os
import shutil
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder import progress
from autograder.marking import one_line

from .errors import GradingError

_LAYOUT = "STUDENT/LESSON/FILE"
_LEAST_PARTS, _MOST_PARTS = 3, 12
_NAME_BYTES = 200  # file systems take 255
# A formula in a spreadsheet, or an option of a program.
_ODD = "=+-@"
# nbgrader looks for students' folders by patterns; and HTML, and what Windows can't have. A
# notebook's own name is in no pattern, and platforms write "Name_[123].ipynb".
_PATTERNS = frozenset('*?[]<>|"')
# What macOS, Windows, Jupyter and check() leave by themselves.
_LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"}
_DEVICES = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}
_ENCRYPTED = 0x1
# Of others zipfile unpacks a whole chunk at a time, and a chunk can be a bomb.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK = 1 << 20
_LISTED = b"PK\1\2"  # begins an entry in a zip's list
_LIST_BYTES = 2_000  # how much of the list an entry takes, at most: most of it is its name
_LINK = "a link; only files and folders are taken in"
_SPECIAL = "a special file; only files and folders are taken in"


class IntakeError(GradingError):
    """A source that is not taken in, and nothing of it. The message names the entry."""


@dataclass(frozen=True)
class Caps:
    """How much a source may hold; far more than a class of notebooks."""

    files: int = 20_000
    file_bytes: int = 200 * 2**20
    all_bytes: int = 2 * 2**30

    @property
    def entries(self) -> int:
        """How many files, folders and litter; macOS adds a file of its own to each of both."""
        return 3 * self.files

    def too_many(self) -> IntakeError:
        """For a source that has more."""
        return IntakeError(
            f"there are more than {self.entries:,} entries in it, those included that would be "
            "left out; pack it again without them, or take it in by parts, some students at a time"
        )


@dataclass(frozen=True)
class _Entry:
    """A file or folder. ``kind`` is '' for these, and else a word for what it is instead.

    Attributes:
        time_ns: when it was changed, since 1970: of several notebooks the newest is graded.
    """

    name: str
    folder: bool
    kind: str
    size: int
    time_ns: int
    open: Callable[[], IO[bytes]]


def take_in(
    source: Path, submitted: Path, lessons: Sequence[str], caps: Caps | None = None
) -> list[str]:
    """Put a source's files into ``submitted``; all of them, or none.

    Args:
        lessons: the course's; other folders are refused.

    Returns:
        The names of the students' folders for lessons, as ``STUDENT/LESSON``.

    Raises:
        IntakeError: an entry is refused, or is there already; or it is no such source.
        OSError: the disk is full, or can't be written.
    """
    caps = caps or Caps()
    target = Path(os.path.realpath(submitted))
    if Path(os.path.realpath(source)) in (target, *target.parents):
        raise IntakeError(
            f"{source} is not taken in: it is the course's own folder, or holds it; name the zip "
            "file or folder that the learning platform handed out"
        )
    submitted.parent.mkdir(parents=True, exist_ok=True)
    half = Path(tempfile.mkdtemp(prefix=".taking-in-", dir=submitted.parent))
    try:
        with contextlib.ExitStack() as stack:
            try:
                _unpack(_entries(source, stack, caps), half, caps)
            except Exception as error:  # zipfile has many words for a file that is none
                full = isinstance(error, OSError) and error.errno != errno.EINVAL
                if full or isinstance(error, IntakeError):
                    raise
                raise IntakeError(f"it is damaged ({one_line(str(error))})") from error
        places = sorted(path.relative_to(half).as_posix() for path in half.glob("*/*"))
        if not places:
            raise IntakeError(f"there are no files in it, as {_LAYOUT}")
        for place in places:
            student, _, lesson = place.partition("/")
            if lesson not in lessons:
                raise IntakeError(
                    f"{place!r} should be {_LAYOUT}, and {lesson!r} is no lesson here; lessons are "
                    f"{', '.join(lessons)}. Is there a folder around it all?"
                )
            parent = submitted / student
            if os.path.lexists(submitted / place) or (parent.exists() and not parent.is_dir()):
                raise IntakeError(
                    f"{submitted / place} is there already; move it away to take in another"
                )
        _move(half, submitted, places)
        return places
    except IntakeError as error:
        raise IntakeError(f"{source} is not taken in: {error}") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _move(half: Path, submitted: Path, places: Sequence[str]) -> None:
    """Move what was unpacked to its place; back again where one can't be moved."""
    moved: list[str] = []
    try:
        for place in places:
            (submitted / place).parent.mkdir(parents=True, exist_ok=True)
            (half / place).rename(submitted / place)
            moved.append(place)
    except OSError:
        for place in moved:
            (submitted / place).rename(half / place)
        raise


def _unpack(entries: Iterator[_Entry], folder: Path, caps: Caps) -> None:
    """Look at all entries, then write them."""
    known: dict[str, tuple[str, bool]] = {}  # by what a file system may take for the same name
    plain: list[tuple[str, _Entry]] = []
    left = caps.all_bytes
    for number, entry in enumerate(entries, 1):
        if number > caps.entries:
            raise caps.too_many()
        parts = _parts(entry)
        if any(_is_litter(part) for part in parts):
            continue  # and never opened
        for part in parts:
            # Programs that the instructor runs in there do what such a file says: git, above all.
            if part.startswith("."):
                raise IntakeError(f"{_named(entry)} is hidden: a part of its name begins with '.'")
            if part.casefold() == "head":  # without one git sees no repository
                raise IntakeError(f"{_named(entry)} may be git's, which runs what it says there")
        if parts[0][0] in _ODD:
            raise IntakeError(
                f"{_named(entry)} is of a student whose name begins with {parts[0][0]!r}"
            )
        if odd := sorted(_PATTERNS.intersection(parts[0])):
            raise IntakeError(f"{_named(entry)} is of a student whose name has {odd[0]!r} in it")
        if entry.kind:
            raise IntakeError(f"{_named(entry)} is {entry.kind}")
        left -= entry.size
        if entry.size > caps.file_bytes or left < 0:
            raise IntakeError(f"{_named(entry)} is too large, or all files together are")
        _claim(parts, entry, known)
        if len(known) > caps.files:
            raise IntakeError(f"{_named(entry)} is one too many: there are more than {caps.files}")
        if not entry.folder:
            if len(parts) < _LEAST_PARTS:
                raise IntakeError(f"{_named(entry)} is not in its place, as {_LAYOUT}")
            plain.append(("/".join(parts), entry))
    left = caps.all_bytes
    for name, entry in plain:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        left -= _copy(entry, path, min(left, caps.file_bytes))


def _parts(entry: _Entry) -> list[str]:
    """The parts of an entry's name, where all of them are plain."""
    name = entry.name
    if name.startswith("/") or "\\" in name or (len(name) > 1 and name[1] == ":"):
        raise IntakeError(f"{_named(entry)} is an absolute name, or one of another system")
    parts = name.rstrip("/").split("/")
    for part in parts:
        if part in ("", ".", ".."):
            raise IntakeError(f"{_named(entry)} leads elsewhere: a part of its name is {part!r}")
        stem = part.partition(".")[0].rstrip().lower()
        if not part.isprintable() or part != part.rstrip(" .") or stem in _DEVICES or ":" in part:
            raise IntakeError(f"{_named(entry)} is a name that not every system can have")
        if len(part.encode(errors="replace")) > _NAME_BYTES or len(parts) > _MOST_PARTS:
            raise IntakeError(f"{_named(entry)} is too long or too deep a name")
    return parts


def _is_litter(part: str) -> bool:
    return part in _LITTER or part.startswith(("._", progress.FILE))


def _claim(parts: list[str], entry: _Entry, known: dict[str, tuple[str, bool]]) -> None:
    """Note a name and those of the folders that it lies in; each is for one thing only."""
    for end in range(1, len(parts) + 1):
        name, last = "/".join(parts[:end]), end == len(parts)
        this = (name, entry.folder or not last)
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())
        first = known.setdefault(key, this)
        if first is not this and (first != this or (last and not entry.folder)):
            raise IntakeError(f"{_named(entry)} collides with {one_line(first[0])!r}")


def _named(entry: _Entry) -> str:
    return f"the entry {one_line(entry.name)[:200]!r}"


def _copy(entry: _Entry, path: Path, most: int) -> int:
    """Write a file; its size as it turned out."""
    size = 0
    with entry.open() as source, path.open("xb") as target:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise IntakeError(f"{_named(entry)} is larger than it says, or than may be")
            target.write(chunk)
    os.utime(path, ns=(entry.time_ns, entry.time_ns))
    return size


def _entries(source: Path, stack: contextlib.ExitStack, caps: Caps) -> Iterator[_Entry]:
    if source.is_dir():
        return _of_folder(source, caps)
    if not source.is_file():
        raise IntakeError("there is no such file or folder")
    if source.stat().st_size > caps.all_bytes:
        raise IntakeError("it is too large")
    if zipfile.is_zipfile(source):
        file = stack.enter_context(_Counted(source, caps))
        archive = zipfile.ZipFile(file)
        file.caps = None
        return _of_zip(archive)
    raise IntakeError(
        "it is neither a zip file nor a folder; unpack another kind of archive, and name its folder"
    )


class _Counted(io.BufferedReader):
    """A zip file whose list of entries is counted as it is read.

    zipfile makes an object for each, a kilobyte large, before it tells how many there are.
    """

    def __init__(self, path: Path, caps: Caps) -> None:
        super().__init__(io.FileIO(path))
        self.caps: Caps | None = caps  # None: from now on what is read is no list

    def read(self, size: int | None = -1, /) -> bytes:
        if self.caps and size and size > self.caps.entries * _LIST_BYTES:
            raise self.caps.too_many()
        data = super().read(size)
        if self.caps and data.count(_LISTED) > self.caps.entries:
            raise self.caps.too_many()
        return data


def _of_zip(archive: zipfile.ZipFile) -> Iterator[_Entry]:
    for info in archive.infolist():
        # `orig_filename`: zipfile cuts a name at a zero byte, and turns separators around.
        mode, kind = info.external_attr >> 16, ""
        if info.flag_bits & _ENCRYPTED:
            kind = "encrypted; ask for it without a password"
        elif info.compress_type not in _METHODS:
            kind = "packed in an unusual way; zip it again with ordinary compression"
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = _LINK if stat.S_ISLNK(mode) else _SPECIAL
        folder = info.orig_filename.endswith("/")

        def opened(info: zipfile.ZipInfo = info) -> IO[bytes]:
            return archive.open(info)

        changed = _time_ns(info.date_time)
        yield _Entry(info.orig_filename, folder, kind, info.file_size, changed, opened)


def _time_ns(date_time: tuple[int, int, int, int, int, int]) -> int:
    """A zip's local time since 1970; one that is none is older than all others."""
    try:
        return int(datetime.datetime(*date_time).timestamp()) * 10**9
    except (ValueError, OverflowError, OSError):  # as month 0, which some programs write
        return 0


def _of_folder(folder: Path, caps: Caps) -> Iterator[_Entry]:
    places = [folder]
    while places:
        for path in sorted(itertools.islice(places.pop().iterdir(), caps.entries + 1)):
            state = path.lstat()
            kind = ""
            if stat.S_ISLNK(state.st_mode):
                kind = _LINK
            elif stat.S_ISDIR(state.st_mode):
                places.append(path)
            elif not stat.S_ISREG(state.st_mode):
                kind = _SPECIAL

            def opened(path: Path = path) -> IO[bytes]:
                # Not a link that somebody put in its place meanwhile, nor a pipe to wait at.
                flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
                fd = os.open(path, os.O_RDONLY | flags)
                return os.fdopen(fd, "rb")

            name = path.relative_to(folder).as_posix()
            is_folder, changed = stat.S_ISDIR(state.st_mode), state.st_mtime_ns
            yield _Entry(name, is_folder, kind, state.st_size, changed, opened)
