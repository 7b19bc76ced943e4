"""The warm server: imports what lessons need, then forks a child for each job.

``python -m autograder.engine.server SETTINGS``, where SETTINGS is JSON (see :class:`Settings`).
A request is one frame on the control socket, the cells to compile before the fork, with two
descriptors: the pipe for the child's frames and the one it takes its job from. At the parent's
next byte the child is killed, with all that it may have started; its folders are emptied, and
``{"exit"}`` is the answer. Where the parent goes away, so does the server.

No learner code ever runs in here, and no solution comes by.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import child, frames, linux
from .folders import Folders
from .limits import Limits
from .prepared import prepare
from .rehearsal import rehearse
from .shell import Shell
from .space import Snapshot, snapshot

_WATCH_SECONDS = 0.2  # between two looks at how much disk is taken


@dataclass(frozen=True)
class Settings:
    """What a worker tells its server.

    Attributes:
        control: the descriptor of the socket to the parent.
        tier: of :data:`autograder.engine.tiers.Tier`; 'A' is true behind the outer wall only.
        home: holds the notebooks' folders; removed at the end.
        modules: to import before the first fork.
        limits: fields of :class:`Limits`.
        brief: few notebooks will run.
        user: what root becomes; 0: it stays what it is.
    """

    control: int
    tier: str
    home: str
    modules: Sequence[str]
    limits: dict[str, Any] = field(default_factory=dict)
    brief: bool = False
    user: int = 0


def main() -> None:
    """Serve until the parent closes its end, or is gone."""
    settings = Settings(**json.loads(sys.argv[1]))
    folders = Folders(Path(settings.home))
    if settings.tier == "A":
        settle(settings)
    else:
        _adopt()
    try:
        folders.make()
        _serve_all(settings, folders)
    finally:
        # A parent that was killed could not clean up.
        folders.remove()


def settle(settings: Settings) -> None:
    """Behind the outer wall: make the one place to write, then give all rights away.

    bubblewrap can't limit the number of files of a tmpfs, and a million of them take a gigabyte
    of the kernel's memory; so the server mounts it. Root's identity goes too: without any
    capability it may still write what belongs to root, as /proc/sys (tried: it can), and no
    number of threads is too many for it.
    """
    limits = Limits(**settings.limits)
    user = settings.user or os.getuid()
    group = settings.user or os.getgid()
    linux.mount_tmpfs(settings.home, limits.disk_bytes, limits.files, user, group)
    if settings.user:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # else /proc/self is not one's own any more
    linux.drop_capabilities()
    # bubblewrap's process outside; with it goes this one, and with this one the namespace.
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


def _adopt() -> None:
    """Become the parent of whatever a child leaves behind, so that it can be found and ended."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)


def _serve_all(settings: Settings, folders: Folders) -> None:
    # Ctrl-C at a terminal reaches this process too: the parent decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in settings.modules:
        importlib.import_module(name)
    _one_thread()
    gc.freeze()  # what is imported stays, and need not be looked at
    rehearse(Shell.start())
    server = _Server(settings, folders, snapshot())
    gc.collect()
    gc.freeze()  # the children copy fewer pages
    if not settings.brief:
        linux.collapse_memory()  # takes half a second; then they copy fewer tables of pages
    server.control.sendall(frames.packed({"ready": True}))
    while server.serve():
        pass


def _one_thread() -> None:
    # A child would hang in a parallel operation if the server had ever run one with more.
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


class _Server:
    def __init__(self, settings: Settings, folders: Folders, libraries: Snapshot) -> None:
        self.control = socket.socket(fileno=settings.control)
        self._alone = settings.tier == "A"  # in its own namespace of processes
        self._limits = Limits(**settings.limits)
        self._folders = folders
        self._libraries = libraries
        self._inner = None
        if settings.tier in ("A", "B"):
            from .inner import Inner

            self._inner = Inner(folders, behind_outer_wall=self._alone)

    def serve(self) -> bool:
        """One job; False where the parent is gone."""
        if self._inner is not None:
            self._inner.prepare()
        head, fds, _, _ = socket.recv_fds(self.control, 4, 2)
        if not head or len(fds) != 2:
            return False
        size = int.from_bytes(head, "big")
        data = b""
        while len(data) < size:
            part = self.control.recv(min(size - len(data), 1 << 20))
            if not part:
                return False
            data += part
        prepare(json.loads(data))
        pid = os.fork()
        if pid == 0:
            try:
                # Takes the control socket away from it too: it could ask for jobs there.
                child.start(fds[1], fds[0], self._folders, self._inner, self._libraries)
            finally:
                os._exit(70)
        for fd in fds:
            os.close(fd)
        self._wait(pid)
        self._end(pid)
        self._folders.empty()
        with contextlib.suppress(BrokenPipeError):
            self.control.sendall(frames.packed({"exit": True}))
        return True

    def _wait(self, pid: int) -> None:
        """Until the parent says that the job is over, or is gone."""
        seconds = None if self._alone else _WATCH_SECONDS  # behind the wall the kernel counts
        while not select.select([self.control], [], [], seconds)[0]:
            if self._folders.over(self._limits, pid):
                _kill(pid)
        self.control.recv(1)

    def _end(self, pid: int) -> None:
        """Kill the child and everything that came of it."""
        if self._alone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # all but this process, as it is number 1
        else:
            _kill(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
                if not self._alone:
                    for left in _children():
                        _kill(left)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _children() -> list[int]:
    """What a dead child left behind: this process has it now."""
    text = Path("/proc/self/task", str(os.getpid()), "children").read_text("ascii")
    return [int(pid) for pid in text.split()]


if __name__ == "__main__":
    main()
