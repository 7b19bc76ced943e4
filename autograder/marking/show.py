"""Frozen values as short text for a learner: whole where short, visibly cut where long."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .values import AtLeast, AtMost, OneOf, Other, Raised, Tensor

LONGEST = 160
_FEW = 8  # items or elements shown before a cut
# The names that IPython and ipykernel make up for a cell's text, at the end of a SyntaxError.
_CELLS_FILE = re.compile(r"\((?:<ipython-input[^>]*>|\d+\.py), (line \d+)\)$")


def show(value: Any) -> str:
    """One line, at most ``LONGEST`` characters; a cut is marked with an ellipsis."""
    return cut(_show(value, 0), LONGEST)


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def one_line(text: str) -> str:
    """The text without line breaks, escape codes or characters that can't be printed."""
    words = " ".join(text.split())
    return "".join(char if char.isprintable() else "�" for char in words)


def with_article(name: str) -> str:
    """'a list', 'an int', 'an ndarray'."""
    name = one_line(name)
    vowel = name.lower().startswith(("a", "e", "i", "o", "nd"))
    return f"an {name}" if vowel else f"a {name}"


def _show(value: Any, depth: int) -> str:
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, list | tuple):
        return _sequence(value, depth)
    if isinstance(value, dict):
        if depth > 3 and value:
            return "{…}"
        parts = [f"{key!r}: {_show(item, depth + 1)}" for key, item in list(value.items())[:_FEW]]
        return "{" + ", ".join(parts + _rest(value)) + "}"
    if isinstance(value, Raised):
        name, message = one_line(value.type_name), one_line(value.message)
        message = _CELLS_FILE.sub(r"(\1 of the cell)", message)
        return f"{name}: {message}" if message else name
    if isinstance(value, Other):
        name = with_article(value.type_name)
        return f"{name} ({one_line(value.text)})" if value.text else name
    if isinstance(value, OneOf):
        return " or ".join([_show(option, depth + 1) for option in value.options[:_FEW]])
    if isinstance(value, AtMost | AtLeast):
        return f"at {'most' if isinstance(value, AtMost) else 'least'} {value.limit:g}"
    if isinstance(value, float):
        text = f"{value:.4g}"
        return f"{text}.0" if text.removeprefix("-").isdigit() else text
    if isinstance(value, str):
        return repr(value[:LONGEST])  # with its quotes, a longer one is cut later on
    return repr(value)


def _rest(value: Any) -> list[str]:
    return [f"… {len(value) - _FEW} more"] if len(value) > _FEW else []


def _sequence(value: list[Any] | tuple[Any, ...], depth: int) -> str:
    opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
    if depth > 3 and value:
        return f"{opening}…{closing}"
    parts = [_show(item, depth + 1) for item in value[:_FEW]] + _rest(value)
    if isinstance(value, tuple) and len(value) == 1:
        return f"({parts[0]},)"
    return opening + ", ".join(parts) + closing


def _tensor(value: Tensor) -> str:
    array = value.array
    if array.size > _FEW or (array.size == 0 and array.ndim > 1):
        return f"tensor of shape {tuple(array.shape)}"
    with np.errstate(all="ignore"):  # a warning would be printed to stderr
        text = np.array2string(
            array, separator=", ", precision=4, suppress_small=True, threshold=_FEW
        ).replace("\n", "")
    kind = "" if value.kind == "bool" or value.dtype in ("float32", "int64") else f", {value.dtype}"
    return f"tensor({' '.join(text.split())}{kind})"
