"""The files that lie beside a notebook: what a lesson ships, which its cells read or import."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .errors import EngineError
from .limits import Limits

Files = Mapping[str, bytes]
"""Contents by name; names are relative, with '/' between their parts."""


def read_files(folder: Path, limits: Limits) -> Files:
    """What lies in a folder beside the notebooks. Links, and what begins with a dot, are left out.

    Raises:
        EngineError: it is more than a notebook may have on disk.
    """
    found: dict[str, bytes] = {}
    left = limits.disk_bytes
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or path.suffix == ".ipynb":
                continue
            state = path.lstat()
            if not stat.S_ISREG(state.st_mode):
                continue
            left -= state.st_size
            if left < 0 or len(found) >= limits.files:
                raise EngineError(
                    f"{folder}: the files beside the notebook are larger than the limit of "
                    f"{limits.disk_bytes / 2**20:.0f} MB on disk, or more than {limits.files}"
                )
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
