"""Installs this package for a notebook that can't import it, from the clone it stands in.

The first cell of each lesson uses it, where nobody has set anything up: on Colab, or in a Jupyter
that belongs to another environment. It knows the standard library only.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

# What a lesson and check() import. The rest of pyproject.toml's list is for JupyterLab and for
# instructors; on Colab it would replace parts of Colab itself.
NEEDED = ("torch", "numpy", "matplotlib", "ipywidgets")
CLONE = Path(__file__).resolve().parents[1]


class InstallError(RuntimeError):
    """It could not be installed. Shown as its message only."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def install() -> None:
    """Install the package and what it needs, with this Python's pip, and say so.

    Raises:
        InstallError: pip can't; the message holds what it said last.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    print(f"Installing this course's package, autograder, from {CLONE} ...")
    # Editable, so that the lessons' sentences and masters are found beside it.
    _pip("--no-deps", "--editable", str(CLONE))
    if missing:
        takes = " (this takes minutes)" if "torch" in missing else ""
        print(f"... and {', '.join(missing)}, which it needs{takes} ...")
        _pip(*missing)
    importlib.invalidate_caches()
    print("Done. Go on with the next cell.")


def _pip(*what: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *what], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
        raise InstallError(
            f"pip could not install it. {' '.join(errors)[:500]} (To see all that it says, run in "
            f"a terminal: {sys.executable} -m pip install {' '.join(what)})"
        )
