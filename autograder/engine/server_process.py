"""The server's process, as the parent starts and ends it (see :mod:`autograder.engine.server`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import outer
from .errors import EngineError
from .folders import Folders
from .limits import Limits
from .tiers import Tier

_VARIABLES = {
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "USER": "learner",  # torch asks for it, and there is no such account
    "MPLBACKEND": "agg",
    # A child would hang in a parallel operation if the server had run one with more.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Memory in huge pages forks twice as fast.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
# Without these Python might not start. The rest is not the notebooks' business.
_KEPT = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")


def start(
    control: int,
    tier: Tier,
    home: str | None,
    modules: Sequence[str],
    limits: Limits,
    *,
    brief: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a server, which warms; behind bubblewrap in tier A.

    Args:
        control: the descriptor of its end of the socket; the caller closes it.
        home: the folder for the notebooks' folders; None in tier A, which has its own.
        brief: as for :class:`Worker`.

    Raises:
        EngineError: root's server could not get at this Python.
    """
    behind = tier == "A"
    if behind and (closed := outer.closed()):
        raise EngineError(
            f"notebooks are not run as root, and only root can enter {closed}, where this Python "
            f"is: chmod o+rx {closed}"
        )
    settings = {
        "control": control,
        "tier": tier,
        "home": home or str(outer.HOME),
        "modules": modules,
        "limits": asdict(limits),
        "brief": brief,
        "user": outer.user() if behind and os.geteuid() == 0 else 0,
    }
    # -P: modules in the working folder, whatever it is, are not for the server.
    line = [sys.executable, "-P", "-m", "autograder.engine.server", json.dumps(settings)]
    temporary = str(Folders(Path(str(settings["home"]))).temporary)
    variables = {**_VARIABLES, "HOME": temporary, "TMPDIR": temporary}
    environment: dict[str, str] | None = None  # bubblewrap clears it for what is inside
    if behind:
        line = outer.command(line, variables)
    else:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        code = os.pathsep.join([str(outer.PACKAGE.parent), *filter(None, [kept.get("PYTHONPATH")])])
        environment = {**kept, **variables, "PYTHONPATH": code}  # the same code as here
    return subprocess.Popen(
        line,
        pass_fds=[control],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    )


def end(server: subprocess.Popen[Any]) -> None:
    """Kill a server, and bubblewrap where it stands around it.

    bubblewrap that is killed while it starts leaves a process that waits for it for ever (seen in
    0.8.0); so it is stopped first, and what it started is killed.
    """
    with suppress(OSError):  # it ended; or no Linux
        server.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text("ascii")
        for child in map(int, children.split()):
            os.kill(child, signal.SIGKILL)
    server.kill()
