"""Exceptions that hooks run into, recognised by their type and text."""

from __future__ import annotations

import re

from .values import Raised

# (name of the mistake, type of the exception, what its message holds); the first that fits.
# Messages are those of Python 3.11 to 3.13 and torch 2.13; the tests provoke each of them.
_KNOWN = [
    (name, re.compile(kind), re.compile(pattern))
    for name, kind, pattern in (
        ("todo", "Todo", r""),
        ("todo", "NotImplementedError", r"^$"),  # with a text it is torch's, about something else
        ("input_refused", "StdinNotImplementedError", r""),
        ("input_refused", "EOFError", r"when reading a line"),
        ("exits", "SystemExit|ExitCalled", r""),
        ("recursion", "RecursionError", r""),
        ("async_function", "TypeError|AttributeError", r"\bcoroutine\b"),
        ("class_as_hook", "TypeError", r"\b__init__\(\) (takes|missing|got)"),
        ("class_as_hook", "TypeError", r"^[\w.<>]+\(\) takes no arguments$"),
        ("one_value_returned", "TypeError", r"\bforward\(\) (missing|takes|got)"),
        ("wrong_arity", "TypeError", r"\(\) (takes \d+ positional|missing \d+ required)"),
        ("wrong_call", "TypeError", r"\(\) takes .*argument"),
        ("not_one_number", "RuntimeError", r"cannot be converted to Scalar"),
        ("not_one_number", "ValueError", r"only one element tensors can be converted"),
        ("not_one_number", "RuntimeError", r"Boolean value of Tensor with more than one value"),
        ("wrong_return", "TypeError", r"hook returned '"),
        ("none_used", "TypeError|AttributeError", r"\bNoneType\b"),
        ("item_assignment", "TypeError", r"(does not|doesn't) support item (assignment|deletion)"),
        ("not_a_tuple", "TypeError", r"object of type '\w+' has no len\(\)"),
        ("tuple_used", "TypeError", r"unsupported operand type.*'(tuple|list)'"),
        ("tuple_used", "TypeError", r"can only concatenate (tuple|list)|can't multiply sequence"),
        ("tuple_used", "TypeError", r"must be Tensor, not (tuple|list)"),
        ("wrong_grad_count", "RuntimeError", r"invalid number of grad_(input|output)"),
        ("wrong_grad_count", "RuntimeError", r"hook.*incorrect number of values"),
        ("wrong_size", "RuntimeError", r"has changed the (size|type) of value"),
        ("graph_cut", "RuntimeError", r"does not require grad and does not have a grad_fn"),
        ("graph_cut", "RuntimeError", r"appears to not have been used in the graph"),
        ("inplace_view", "RuntimeError", r"modified (inplace|by an inplace)"),
        ("inplace_view", "RuntimeError", r"leaf Variable that requires grad.*in-place"),
        ("inplace_view", "RuntimeError", r"more than one element of the written-to tensor"),
        ("local_name", "UnboundLocalError", r""),
        ("missing_name", "NameError", r""),
        ("index_out_of_range", "IndexError", r""),
        ("wrong_unpack", "ValueError", r"values to unpack"),
        ("not_callable", "TypeError", r"object is not callable"),
        ("not_a_list", "AttributeError", r"attribute '(append|extend|insert|clear|pop|remove)'"),
        ("tuple_attribute", "AttributeError", r"'tuple' object has no attribute"),
        ("no_attribute", "AttributeError", r""),
    )
]


def explain(error: Raised) -> str:
    """The name of the mistake that an exception points to; 'raised' where none is known."""
    for name, kind, pattern in _KNOWN:
        if kind.fullmatch(error.type_name) and pattern.search(error.message):
            return name
    return "raised"
