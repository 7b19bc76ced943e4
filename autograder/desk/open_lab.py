"""JupyterLab around the lessons: on the first page, or where the learner left off."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from autograder import progress
from autograder.course import OWN

FIRST_PAGE = "notebooks/README.md"
_SETTINGS = Path(__file__).with_name("jupyter")


def find_root(place: Path) -> Path:
    """The course folder around ``place``, or else the one this package stands in.

    Without either it is ``place`` itself, so that JupyterLab opens where the learner is.
    """
    around = (place, *place.parents, OWN)
    return next((folder for folder in around if (folder / FIRST_PAGE).is_file()), place)


def first_page(root: Path) -> str:
    """The file to open, as a path within ``root``; '' where there is none.

    It is the notebook that was saved last, of those that somebody has begun and not finished.
    Where nothing was begun, or all of it is finished, it is the first page.
    """
    found = [*root.glob("notebooks/*/*.ipynb"), *root.glob("*/*.ipynb"), *root.glob("*.ipynb")]
    begun = [
        path
        for path in found
        if "solutions" not in path.parts and _begun(path) and not progress.read(path).finished
    ]
    if begun:
        latest = max(begun, key=lambda path: path.stat().st_mtime)
        return latest.relative_to(root).as_posix()
    return FIRST_PAGE if (root / FIRST_PAGE).is_file() else ""


def _begun(notebook: Path) -> bool:
    """Whether a cell has been run, or check() has been. A release holds no outputs."""
    if progress.read(notebook).checked:
        return True
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        return any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def run(root: Path, arguments: Sequence[str], *, instructor: bool = False) -> NoReturn:
    """Run JupyterLab in this process until it is stopped, and end the process.

    Args:
        root: the course folder; the process moves there.
        arguments: for ``jupyter lab``; they win over the course's settings.
        instructor: show nbgrader's panels for instructors too.
    """
    # A file that is named as seen from the working folder.
    arguments = [str(Path(a).resolve()) if Path(a).exists() else a for a in arguments]
    os.chdir(root)
    settings = (
        [_SETTINGS / "course"] if instructor else [_SETTINGS / "learner", _SETTINGS / "course"]
    )
    _prepend("JUPYTER_CONFIG_PATH", *map(str, settings))
    # For programs that are started by name where the venv isn't activated: nbgrader starts
    # `alembic`, and a learner `autograder` in JupyterLab's terminal.
    _prepend("PATH", str(Path(sys.executable).parent))
    page = first_page(root)
    os.environ["AUTOGRADER_FIRST_PAGE"] = f"/lab/tree/{quote(page)}" if page else "/lab"

    from jupyterlab.labapp import LabApp  # slow to import, and reads the environment

    print("JupyterLab starts; Ctrl-C here stops it.", flush=True)
    LabApp.launch_instance(list(arguments))
    # Not by returning: threads of the server that were idle at Ctrl-C can wait for ever (seen with
    # anyio 4), and Python for them.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _prepend(variable: str, *folders: str) -> None:
    before = os.environ.get(variable, "")
    os.environ[variable] = os.pathsep.join([*folders, *filter(None, [before])])
