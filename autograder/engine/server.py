"""The warm server: imports what lessons need, then forks a child for each job.

``python -m autograder.engine.server FD MODULE ...``: FD is a socket to the parent. A job comes
as one frame with the write end of a pipe for the child's frames; the answers are ``{"pid"}``
once the child runs and ``{"exit"}`` once it is reaped. No learner code ever runs in here.
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

from . import child, frames
from .shell import Shell


def main() -> None:
    """Serve until the parent closes its end."""
    control = socket.socket(fileno=int(sys.argv[1]))
    # Ctrl-C at a terminal reaches this process too: the parent decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in sys.argv[2:]:
        importlib.import_module(name)
    _one_thread()
    Shell.start().run_cell("None")  # what IPython imports at its first cell
    gc.collect()
    gc.freeze()  # the children copy fewer pages
    frames.send(control.fileno(), {"ready": True})
    while True:
        message, fds, _, _ = socket.recv_fds(control, 4, 1)
        if not message or not fds:
            return
        try:
            _serve(control, message, fds[0])
        finally:
            os.close(fds[0])


def _one_thread() -> None:
    # A child would hang in a parallel operation if the server had ever run one with more.
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _serve(control: socket.socket, head: bytes, out: int) -> None:
    size = int.from_bytes(head, "big")
    data = b""
    while len(data) < size:
        data += control.recv(min(size - len(data), 1 << 20))
    job = json.loads(data)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            # The control socket is not the child's: it could ask for jobs on it.
            keep = os.dup2(out, 3)
            os.closerange(4, 1024)
            child.run(job, keep)
        finally:
            os._exit(70)
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


if __name__ == "__main__":
    main()
