"""Whether a frozen value is the expected one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .values import AtLeast, AtMost, OneOf, Other, Raised, Tensor

# |actual - expected| <= ABSOLUTE + relative * |expected|, as in torch.allclose.
ABSOLUTE = 1e-6
RELATIVE = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-7, "complex128": 1e-7}
RELATIVE_DEFAULT = 1e-5


def same(actual: Any, expected: Any) -> bool:
    """Compare recursively.

    Tensors agree in shape, kind of dtype (bool, int, float, complex) and, within a tolerance,
    in value. Lists and tuples differ from each other. Numbers agree in value; a bool is no
    number. NaN agrees only with NaN, in the same place. An :class:`Other` agrees with nothing.
    """
    if isinstance(expected, OneOf):
        return any(same(actual, option) for option in expected.options)
    if isinstance(expected, AtMost | AtLeast):
        if not is_number(actual) or math.isnan(actual):
            return False
        if isinstance(expected, AtMost):
            return bool(actual <= expected.limit)
        return bool(actual >= expected.limit)
    if isinstance(expected, Other) or isinstance(actual, Other):
        return False
    if isinstance(expected, Tensor):
        return isinstance(actual, Tensor) and _same_tensor(actual, expected)
    if isinstance(expected, list | tuple):
        return (
            type(actual) is type(expected)
            and len(actual) == len(expected)
            and all(map(same, actual, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and same_keys(actual, expected)
            and all(same(actual[key], expected[key]) for key in expected)
        )
    if is_number(expected):
        return is_number(actual) and _same_number(actual, expected)
    if isinstance(expected, Raised):
        return isinstance(actual, Raised) and actual.type_name == expected.type_name
    return type(actual) is type(expected) and bool(actual == expected)


def same_keys(actual: dict[Any, Any], expected: dict[Any, Any]) -> bool:
    """Whether two dicts have the same keys, in any order; True is not 1 here either."""
    kinds = [{(isinstance(key, bool), key) for key in keys} for keys in (actual, expected)]
    return kinds[0] == kinds[1]


def is_number(value: Any) -> bool:
    """An int or a float, but not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(actual: float, expected: float) -> bool:
    if isinstance(actual, int) and isinstance(expected, int):
        return actual == expected
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    try:
        return math.isclose(actual, expected, rel_tol=RELATIVE_DEFAULT, abs_tol=ABSOLUTE)
    except OverflowError:  # an int too large for a float
        return False


def _same_tensor(actual: Tensor, expected: Tensor) -> bool:
    if actual.array.shape != expected.array.shape or actual.kind != expected.kind:
        return False
    return close(actual, expected)


def close(actual: Tensor, expected: Tensor) -> bool:
    """Equal shapes given: values within the tolerance of the expected dtype.

    Where more than float32 is expected, float32 will do; but nobody's answer is taken less
    strictly for being coarse.
    """
    if actual.dtype == expected.dtype and actual.array.tobytes() == expected.array.tobytes():
        return True
    if expected.kind in ("bool", "int"):
        return bool(np.array_equal(actual.array, expected.array))
    relative = RELATIVE.get(expected.dtype, RELATIVE_DEFAULT)
    if actual.dtype != expected.dtype:
        relative = max(relative, RELATIVE_DEFAULT)
    wide = "complex128" if expected.kind == "complex" else "float64"
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(
            np.allclose(
                actual.array.astype(wide),
                expected.array.astype(wide),
                rtol=relative,
                atol=ABSOLUTE,
                equal_nan=True,
            )
        )
