"""The inner wall, which a child puts around itself after the fork, before any learner code."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping

from landlockpy import AccessFS, Ruleset, Scope

from . import linux, outer, syscalls
from .folders import Folders
from .limited import keep_only, lower
from .limits import Limits

_READ = AccessFS.READ_FILE | AccessFS.READ_DIR
_WRITE = (
    _READ
    | AccessFS.WRITE_FILE
    | AccessFS.TRUNCATE
    | AccessFS.MAKE_REG
    | AccessFS.MAKE_DIR
    | AccessFS.MAKE_SYM
    | AccessFS.REMOVE_FILE
    | AccessFS.REMOVE_DIR
    | AccessFS.REFER
)
_OWN_FILES = ("stat", "statm", "status", "maps", "smaps", "smaps_rollup", "mem", "cmdline")


class Inner:
    """What the server makes ready for its children.

    Args:
        behind_outer_wall: whether there is one.

    Raises:
        OSError: the kernel has no Landlock, or no filter can be made.
    """

    def __init__(self, folders: Folders, *, behind_outer_wall: bool) -> None:
        self._folders = folders
        self._behind = behind_outer_wall
        self._filter = syscalls.program(behind_outer_wall=behind_outer_wall)
        self._fork = syscalls.fork_number()
        self._readable = [
            (path, _READ if path.is_dir() else AccessFS.READ_FILE) for path in outer.readable()
        ]
        self._rules: Ruleset | None = None

    def prepare(self) -> None:
        """Make the next child's rules; there is time for it between two notebooks."""
        if self._rules is not None:
            self._rules.close()
        rules = Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET)
        for path, access in self._readable:
            rules.allow_path(path, access)
        for device in outer.DEVICES:
            rules.allow_path(device, AccessFS.READ_FILE | AccessFS.WRITE_FILE)
        rules.allow_path(self._folders.data, _READ)
        for folder in (self._folders.work, self._folders.temporary):
            rules.allow_path(folder, _WRITE)
        self._rules = rules

    def close_around(self, limits: Limits, out: int) -> list[str]:
        """Confine this process. Of its descriptors the pipe ``out`` stays, as number 3.

        Returns:
            What is possible although it must not be: the names of failed self-probes.

        Raises:
            OSError: a part can't be put up.
        """
        assert self._rules is not None
        linux.drop_capabilities()
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if self._behind:
            lower(resource.RLIMIT_NPROC, limits.threads)
        # /proc/self is another folder in each process. All of it would be too much: what stands
        # in its net/ and mounts is the machine's.
        for name in _OWN_FILES:
            self._rules.allow_path(f"/proc/self/{name}", AccessFS.READ_FILE)
        self._rules.allow_path("/proc/self/fd", _READ)
        self._rules.restrict(no_new_privs=True)
        keep_only(out)
        lower(resource.RLIMIT_NOFILE, limits.open_files)
        linux.load_filter(syscalls.for_this_process(self._filter))
        return [name for name, possible in self._probes().items() if possible()]

    def _probes(self) -> Mapping[str, Callable[[], bool]]:
        canary = self._folders.canary

        def runs() -> bool:
            try:  # it is no program: where it may be run, that is the error
                os.execv(canary, ["canary"])
            except OSError as error:
                return error.errno != errno.EPERM

        def forks() -> bool:
            made = linux.syscall(self._fork, syscalls.FORK_FLAGS, 0, 0, 0, 0)
            if made == 0:
                os._exit(0)
            return made > 0

        return {
            "reading a file out of reach": lambda: _works(canary.read_bytes),
            "writing a file out of reach": lambda: _works(lambda: canary.write_text("changed")),
            "making a file out of reach": lambda: _works((self._folders.home / "made").touch),
            "opening a socket": lambda: _works(socket.socket),
            "starting a process": forks,
            "running a program": runs,
            "signalling another process": lambda: _works(lambda: os.kill(os.getppid(), 0)),
        }


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True
