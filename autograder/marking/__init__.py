"""Compares what was observed with what the reference gives, and says it in words.

Pure: it runs no learner code, knows no other room of the house, and needs numpy only.
"""

from .codec import decode, encode
from .compare import same
from .judge import (
    REBOUND,
    CellRun,
    Ending,
    Expectation,
    Observations,
    Outcome,
    Verdict,
    answer_renamed,
    answer_stopped,
    decide,
    is_plain,
    judge,
)
from .names import global_names, global_reads, rebound_builtin, shadowed_builtin
from .show import cut, one_line, show
from .values import (
    AtLeast,
    AtMost,
    BadValue,
    OneOf,
    Other,
    Raised,
    Tensor,
    at_least,
    at_most,
    freeze,
    observe,
    one_of,
    raised,
)
from .words import Sentence, Words, WordsError, for_lesson, shared

__all__ = [
    "REBOUND",
    "AtLeast",
    "AtMost",
    "BadValue",
    "CellRun",
    "Ending",
    "Expectation",
    "Observations",
    "OneOf",
    "Other",
    "Outcome",
    "Raised",
    "Sentence",
    "Tensor",
    "Verdict",
    "Words",
    "WordsError",
    "answer_renamed",
    "answer_stopped",
    "at_least",
    "at_most",
    "cut",
    "decide",
    "decode",
    "encode",
    "for_lesson",
    "freeze",
    "global_names",
    "global_reads",
    "is_plain",
    "judge",
    "observe",
    "one_line",
    "one_of",
    "raised",
    "rebound_builtin",
    "same",
    "shadowed_builtin",
    "shared",
    "show",
]
