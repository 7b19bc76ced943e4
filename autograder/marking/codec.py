"""Frozen values through JSON, so that nothing from a learner's process is ever unpickled."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

from .values import (
    DTYPES,
    MAX_BITS,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NAME,
    MAX_TEXT,
    AtLeast,
    AtMost,
    BadValue,
    Budget,
    OneOf,
    Other,
    Raised,
    Tensor,
)

_MAX_DIMS = 64  # numpy's and torch's own limit


def encode(value: Any) -> Any:
    """A frozen value as something ``json.dumps`` takes. The inverse of :func:`decode`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return ["list", [encode(item) for item in value]]
    if isinstance(value, tuple):
        return ["tuple", [encode(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[encode(key), encode(item)] for key, item in value.items()]]
    if isinstance(value, Tensor):
        data = base64.b64encode(value.array.tobytes()).decode("ascii")
        return ["tensor", value.dtype, list(value.array.shape), data]
    if isinstance(value, OneOf):
        return ["one_of", [encode(option) for option in value.options]]
    if isinstance(value, AtMost | AtLeast):
        return ["at_most" if isinstance(value, AtMost) else "at_least", value.limit]
    if isinstance(value, Raised):
        return ["raised", value.type_name, value.message]
    if isinstance(value, Other):
        return ["other", value.type_name, value.text]
    raise BadValue(f"{type(value).__name__} is not a frozen value")


def decode(data: Any) -> Any:
    """A frozen value from parsed JSON.

    Raises:
        BadValue: the data is not what ``encode`` writes, or exceeds a limit. Data from a
            learner's process is a claim: nothing in it is executed, and all of it is bounded.
    """
    return _decode(data, 0, Budget())


def _decode(data: Any, depth: int, budget: Budget) -> Any:
    if not isinstance(data, list):
        return _plain(data, budget)
    if not data or not isinstance(data[0], str):
        raise BadValue("not an encoded value")
    tag, rest = data[0], data[1:4]
    if tag == "tensor" and len(data) == 4:
        return _tensor(rest, budget)
    if tag in ("raised", "other") and len(data) == 3:
        if not all(isinstance(part, str) for part in rest):
            raise BadValue(f"malformed {tag}")
        name, text = rest[0][:MAX_NAME], rest[1][:MAX_TEXT]
        return Raised(name, text) if tag == "raised" else Other(name, text)
    if tag in ("at_most", "at_least") and len(data) == 2:
        limit = _plain(rest[0], budget)
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            raise BadValue(f"malformed {tag}")
        return AtMost(limit) if tag == "at_most" else AtLeast(limit)
    if tag in ("list", "tuple", "dict", "one_of") and len(data) == 2:
        return _items(tag, rest[0], depth, budget)
    raise BadValue(f"unknown or malformed: {tag[:20]!r}")


def _plain(data: Any, budget: Budget) -> Any:
    if data is None or isinstance(data, bool | float):
        return data
    if isinstance(data, int) and data.bit_length() <= MAX_BITS:
        return data
    if isinstance(data, str) and len(data) <= MAX_TEXT and budget.take(nbytes=len(data)):
        return data
    raise BadValue("not an encoded value, or too large a one")


def _items(tag: str, items: Any, depth: int, budget: Budget) -> Any:
    if not isinstance(items, list):
        raise BadValue(f"malformed {tag}")
    if depth > MAX_DEPTH or not budget.take(len(items) * (2 if tag == "dict" else 1)):
        raise BadValue("too deep or too many items")
    if tag != "dict":
        parts = tuple(_decode(item, depth + 1, budget) for item in items)
        return OneOf(parts) if tag == "one_of" else list(parts) if tag == "list" else parts
    result: dict[Any, Any] = {}
    for pair in items:
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadValue("malformed dict")
        key = _plain(pair[0], Budget())
        result[key] = _decode(pair[1], depth + 1, budget)
    return result


def _tensor(rest: list[Any], budget: Budget) -> Tensor:
    name, shape, text = rest
    if not isinstance(name, str) or name not in DTYPES:
        raise BadValue("unknown dtype")
    if not isinstance(shape, list) or len(shape) > _MAX_DIMS:
        raise BadValue("malformed shape")
    if not all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape):
        raise BadValue("malformed shape")
    nbytes = math.prod(shape) * DTYPES[name].itemsize
    if not budget.take(nbytes=nbytes):
        raise BadValue("a tensor is too large")
    if not isinstance(text, str) or len(text) != 4 * math.ceil(nbytes / 3):
        raise BadValue("a tensor's data does not fit its shape")
    try:
        raw = base64.b64decode(text, validate=True)
        return Tensor(name, np.frombuffer(raw, dtype=DTYPES[name]).reshape(shape))
    except (binascii.Error, ValueError) as error:
        raise BadValue("malformed tensor data") from error
