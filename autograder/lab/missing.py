"""A name that another cell makes, and that isn't there yet: said in a sentence."""

from __future__ import annotations

from . import session


def explain(error: BaseException) -> None:
    """Let IPython show such a NameError as one line; leave other errors as they are."""
    if type(error) is not NameError or not error.name:
        return
    if error.name in session.made_elsewhere():
        line = f"NameError: `{error.name}` is not there yet. Run the cell that makes it first."
        error._render_traceback_ = lambda: [line]  # type: ignore[attr-defined]
