"""What a lesson's notebook imports."""

from autograder.marking import at_least, at_most, one_of

from .check import check
from .draw import Draw
from .expect import CheckFailed, expect
from .helpers import record_inputs
from .leaving import install as _stay
from .pictures import draw_before_after, draw_model_graph, draw_timeline
from .session import watch as _watch_cells
from .timeline import record_timeline
from .todo import Todo
from .tracebacks import install as _shorten_tracebacks
from .widgets import explore, step_through

__all__ = [
    "CheckFailed",
    "Draw",
    "Todo",
    "at_least",
    "at_most",
    "check",
    "draw_before_after",
    "draw_model_graph",
    "draw_timeline",
    "expect",
    "explore",
    "one_of",
    "record_inputs",
    "record_timeline",
    "step_through",
]

_shorten_tracebacks()
_watch_cells()
_stay()
