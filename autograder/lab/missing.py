"""A name that another cell makes, and that isn't there yet: said in a sentence."""

from __future__ import annotations

from autograder import marking

from . import session

MISTAKE = "not_there_yet"


def explain(error: BaseException) -> None:
    """Let IPython show such a NameError as one line; leave other errors as they are."""
    sentence = says(error)
    if sentence:
        line = f"NameError: {sentence}"
        vars(error)["_render_traceback_"] = lambda: [line]


def says(error: BaseException) -> str:
    """The sentence; '' where it is another error, or no other cell makes that name."""
    if type(error) is not NameError or error.name not in session.made_elsewhere():
        return ""
    return marking.shared()[MISTAKE].filled({"name": error.name})
