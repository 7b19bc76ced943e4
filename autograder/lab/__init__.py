"""What a lesson's notebook imports."""

from autograder.marking import at_least, at_most, one_of

from .check import check
from .draw import Draw
from .expect import CheckFailed, expect
from .helpers import record_inputs
from .pictures import draw_before_after, draw_model_graph, draw_timeline
from .timeline import record_timeline
from .todo import Todo

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
    "one_of",
    "record_inputs",
    "record_timeline",
]
