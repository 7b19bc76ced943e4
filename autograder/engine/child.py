"""The forked child: confines itself, runs the cells of one plan and sends a frame for each.

Nothing here is trusted by the parent.
"""

from __future__ import annotations

import base64
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from . import frames
from .cells import Cells
from .folders import Folders
from .limited import FRAMES, keep_only, limit
from .limits import Limits
from .space import Snapshot

if TYPE_CHECKING:  # needs libraries that not every system has
    from .inner import Inner


# What the server was started with, which may name folders of the grader's.
_GRADERS = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")


def start(
    fd: int, out: int, folders: Folders, inner: Inner | None, libraries: Snapshot
) -> NoReturn:
    """Take a job from ``fd``, confine this process, and run the job's cells; never returns.

    Args:
        out: the pipe that takes the frames. The first one says whether the walls stand; no
            learner code has run before it.
        inner: None where there is no inner wall.
        libraries: what to put back before each check.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    job = frames.receive(fd, most=sys.maxsize)
    try:
        folders.fill({name: base64.b64decode(text) for name, text in job["files"].items()})
        limits = Limits(**job["limits"])
        limit(limits)
        possible = [] if inner is None else inner.close_around(limits, out)
        if inner is None:
            keep_only(out)
        out = FRAMES
        frames.send(out, {"possible": possible})
        if not possible:
            for name in _GRADERS:
                os.environ.pop(name, None)
            cells = Cells(job, folders.work, folders.temporary, libraries)
            for cell in job["cells"]:
                frames.send(out, cells.run(cell))
            os._exit(0)
    except OSError as error:  # only before the walls stood, or where the parent is gone
        try:
            frames.send(out, {"failed": str(error)})
        except OSError:  # by then the pipe had its other number
            frames.send(FRAMES, {"failed": str(error)})
    os._exit(1)
