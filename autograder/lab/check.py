"""``check()``: all checks of the saved notebook, hidden ones included, from within it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from IPython import get_ipython
from IPython.display import display

from autograder import progress

from . import session
from .running import CheckError, run
from .table import Line, Table, Unsaved


def check(notebook: str | Path | None = None) -> None:
    """Run ``autograder check`` on the saved notebook and show a line for each exercise.

    What passes is remembered beside the notebook (see :mod:`autograder.progress`).

    Args:
        notebook: the file; by default the notebook that this kernel belongs to. The file on
            disk counts, so save first; where it is older than what was run, that is said.

    Raises:
        CheckError: there is no such notebook, it can't be checked, or the check was interrupted;
            the message says which.
    """
    if "NBGRADER_EXECUTION" in os.environ:  # set by nbgrader, and by the engine
        print("While a notebook is graded or validated, check() does nothing.")
        return
    path = Path(notebook) if notebook else _this_notebook()
    cells = session.unsaved(path)
    if cells:
        display(Unsaved(cells))
    place = _Place()
    try:
        result = run(
            path, lambda text: place.tell(f"Running your notebook in a fresh process: {text}")
        )
    except CheckError:
        place.show(Line("Nothing was checked this time."))
        raise
    before = progress.read(path)
    passes = {row["id"]: row["verdict"] == "passed" for row in result["exercises"]}
    progress.remember(path, result["lesson"], passes)
    place.show(Table(result, before))


def _this_notebook() -> Path:
    path = session.notebook()
    if path is None:
        count = len(list(Path.cwd().glob("*.ipynb")))
        raise CheckError(
            f"There are {count} notebooks in this folder: write check('NAME.ipynb') in a new cell."
        )
    return path


class _Place:
    """A place below the cell whose content is replaced, in front ends that can do that."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._can = hasattr(get_ipython(), "kernel")

    def tell(self, text: str) -> None:
        """Show how far it is; nothing where it would stay there for good."""
        if self._can:
            self.show(Line(text))

    def show(self, thing: object) -> None:
        """Show this in place of what was there."""
        if self._handle is None:
            self._handle = display(thing, display_id=True) if self._can else display(thing)
        else:
            self._handle.update(thing)
