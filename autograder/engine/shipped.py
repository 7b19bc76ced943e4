"""The files that lie beside a notebook: what a lesson ships, which its cells read or import."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .errors import FilesError
from .limits import Limits

_BLOCK = 4_096  # bytes that a small file takes, too
_OWN = 30  # files that there are anyway, and that the kernel counts too many for a moment

Files = Mapping[str, bytes]
"""Contents by name; names are relative, with '/' between their parts."""


def read_files(folder: Path, limits: Limits) -> Files:
    """What lies in a folder beside the notebooks.

    Links, what begins with a dot, and copies of notebooks that editors and git make are left out.

    Raises:
        FilesError: it is more than half of what a notebook may have on disk.
    """
    found: dict[str, bytes] = {}
    left, files = limits.disk_bytes // 2, limits.files - _OWN
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files -= 2 * len(folders)  # in the working folder there is a link to each, or more
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or name.endswith("~") or ".ipynb" in name.lower():
                continue
            state = path.lstat()
            if not stat.S_ISREG(state.st_mode):
                continue
            left -= state.st_size + _BLOCK
            files -= 2  # the file, and a link to it
            if left < 0 or files < 0:
                raise FilesError(
                    f"{folder}: the files beside the notebook take more than half of the limits of "
                    f"{limits.disk_bytes / 2**20:.0f} MB on disk and {limits.files} files"
                )
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
