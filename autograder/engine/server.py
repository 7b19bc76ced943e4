"""The warm server: imports what lessons need, then forks a child for each job.

``python -m autograder.engine.server FD HOME MODULE ...``: FD is a socket to the parent, HOME the
folder that holds the notebooks' working folders, removed at the end. A request is one frame, the
cells to compile before the fork, with two descriptors: the pipe for the child's frames and the one
it takes its job from. The answers are ``{"pid"}`` once the child runs and ``{"exit"}`` once it is
reaped. No learner code ever runs in here, and no solution comes by.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys

from . import child, frames
from .prepared import prepare
from .rehearsal import rehearse
from .shell import Shell
from .space import Snapshot, snapshot

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the parent closes its end, or is gone."""
    try:
        _serve_all(socket.socket(fileno=int(sys.argv[1])))
    finally:
        # A parent that was killed could not clean up.
        shutil.rmtree(sys.argv[2], ignore_errors=True)


def _serve_all(control: socket.socket) -> None:
    # Ctrl-C at a terminal reaches this process too: the parent decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in sys.argv[3:]:
        importlib.import_module(name)
    _one_thread()
    rehearse(Shell.start())
    libraries = snapshot()
    gc.collect()
    gc.freeze()  # the children copy fewer pages
    frames.send(control.fileno(), {"ready": True})
    while True:
        message, fds, _, _ = socket.recv_fds(control, 4, 2)
        if not message or len(fds) != 2:
            return
        _serve(control, message, fds, libraries)


def _one_thread() -> None:
    # A child would hang in a parallel operation if the server had ever run one with more.
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _serve(control: socket.socket, head: bytes, fds: list[int], libraries: Snapshot) -> None:
    size = int.from_bytes(head, "big")
    data = b""
    while len(data) < size:
        data += control.recv(min(size - len(data), 1 << 20))
    prepare(json.loads(data))
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            _end_with_server()
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            # The control socket is not the child's: it could ask for jobs on it.
            job = frames.receive(fds[1])
            out = os.dup2(fds[0], 3)
            os.closerange(4, 1024)
            child.run(job, out, libraries)
        finally:
            os._exit(70)
    for fd in fds:
        os.close(fd)
    frames.send(control.fileno(), {"pid": pid})
    _end_with_parent(control, pid)
    _, status = os.waitpid(pid, 0)
    frames.send(control.fileno(), {"exit": os.waitstatus_to_exitcode(status)})


def _end_with_parent(control: socket.socket, pid: int) -> None:
    """Wait until the child ends; kill it where the parent goes away first, by whatever cause."""
    if not hasattr(os, "pidfd_open"):  # not Linux
        return
    child = os.pidfd_open(pid)
    try:
        # The parent sends nothing while a job runs: the socket is readable when it is closed.
        ready, _, _ = select.select([child, control.fileno()], [], [])
    finally:
        os.close(child)
    if child not in ready:
        for kill in (os.kill, os.killpg):  # the group too, once the child leads one
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)


def _end_with_server() -> None:
    """Die where the server is killed with its parent, as when a notebook's kernel is."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
