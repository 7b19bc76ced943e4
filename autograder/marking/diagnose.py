"""What went wrong, worked out from the difference between two frozen values.

Every function returns a mistake's name and what its sentence needs. A parameter may describe
the value that was seen, and the shape, type or count that was asked for; never a hidden value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .compare import is_number, same, same_keys
from .exceptions import explain
from .show import with_article
from .values import AtLeast, AtMost, OneOf, Other, Raised, Tensor

Finding = tuple[str, dict[str, object]]

# Of several items one may be wrong: its sentence says which.
_OF_AN_ITEM = {
    "constant_factor": "item_factor",
    "constant_offset": "item_offset",
    "wrong_shape": "item_shape",
}
_LONGEST_ORDER = 50  # items that are still tried in every order


def difference(actual: Any, expected: Any) -> Finding:
    """Name how ``actual`` differs from ``expected``. The two must not be the same."""
    if isinstance(actual, Raised):
        return explain(actual), {}
    if isinstance(expected, OneOf):
        return difference(actual, expected.options[0]) if expected.options else ("different", {})
    if actual is None:
        return "none", {}
    if isinstance(actual, Other | OneOf | AtMost | AtLeast):
        return _other(actual, expected), {"seen_type": _type(actual)}
    if isinstance(expected, list | tuple):
        return _sequences(actual, expected)
    if isinstance(expected, dict):
        return _dicts(actual, expected)
    if isinstance(expected, Tensor):
        return _tensors(actual, expected)
    if is_number(expected) or isinstance(expected, AtMost | AtLeast):
        return _numbers(actual, expected)
    if type(actual) is not type(expected) and not isinstance(expected, Other | Raised):
        return _wrong_type(actual, expected)
    return "different", {}


def _other(actual: Other | OneOf | AtMost | AtLeast, expected: Any) -> str:
    if isinstance(actual, Other):
        if actual.too_much:
            return "too_large"
        if actual.type_name == "coroutine":
            return "async_function"
        if actual.type_name == "ndarray" and isinstance(expected, Tensor):
            return "array_for_tensor"
    return "not_plain"


def _type(value: Any) -> str:
    if isinstance(value, Tensor):
        return "a tensor"
    if value is None:
        return "None"
    if isinstance(value, AtMost | AtLeast):
        return "a number"
    return with_article(value.type_name if isinstance(value, Other) else type(value).__name__)


def _wrong_type(actual: Any, expected: Any) -> Finding:
    return "wrong_type", {"seen_type": _type(actual), "wanted_type": _type(expected)}


def leaves(value: Any) -> Iterator[Any]:
    """The items of a nest of lists and tuples, in order."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def _sequences(actual: Any, expected: list[Any] | tuple[Any, ...]) -> Finding:
    if not isinstance(actual, list | tuple):
        return _wrong_type(actual, expected)
    if not actual and expected:
        return "nothing", {}
    deeper = len(actual) != len(expected) or any(map(_deeper, actual, expected))
    if deeper and _all_same(list(leaves(actual)), list(leaves(expected))):
        return "nested", {}
    if len(actual) != len(expected):
        return _lengths(list(actual), list(expected))
    if _all_same(list(actual), list(expected)):
        return _wrong_type(actual, expected)  # a tuple for a list, or the reverse
    if _is_permutation(list(actual), list(expected)):
        return "swapped", {}
    first = next(i for i, pair in enumerate(zip(actual, expected, strict=True)) if not same(*pair))
    whole = _whole(actual, expected)
    name, params = whole or difference(actual[first], expected[first])
    if not whole and len(expected) > 1:
        name = _OF_AN_ITEM.get(name, name)
    return name, {**params, "position": first + 1}


def _deeper(actual: Any, expected: Any) -> bool:
    return isinstance(actual, list | tuple) and not isinstance(expected, list | tuple)


def _all_same(actual: list[Any], expected: list[Any]) -> bool:
    return len(actual) == len(expected) and all(map(same, actual, expected))


def _is_permutation(actual: list[Any], expected: list[Any]) -> bool:
    if len(expected) > _LONGEST_ORDER:  # the work grows with the square
        return False
    left = list(actual)
    for want in expected:
        found = next((i for i, value in enumerate(left) if same(value, want)), None)
        if found is None:
            return False
        del left[found]
    return not left


def _lengths(actual: list[Any], expected: list[Any]) -> Finding:
    counts: dict[str, object] = {"count": len(actual), "wanted": len(expected)}
    if len(actual) < len(expected):
        return "missing_items", counts
    times, rest = divmod(len(actual), max(len(expected), 1))
    if expected and not rest:
        in_turn = expected * times
        each = [value for value in expected for _ in range(times)]
        if _all_same(actual, in_turn) or _all_same(actual, each):
            return "stored_again", {**counts, "times": times}
    return "extra_items", counts


def _whole(actual: Any, expected: Any) -> Finding | None:
    """A factor or offset common to all tensors of a sequence."""
    seen, wanted = list(leaves(actual)), list(leaves(expected))
    if len(seen) != len(wanted) or len(seen) < 2 or not all(map(_comparable, seen, wanted)):
        return None
    flat = [np.concatenate([tensor.array.ravel() for tensor in side]) for side in (seen, wanted)]
    return _factor_or_offset(*flat)


def _comparable(actual: Any, expected: Any) -> bool:
    return (
        isinstance(actual, Tensor)
        and isinstance(expected, Tensor)
        and actual.array.shape == expected.array.shape
        and actual.kind == expected.kind == "float"
    )


def _dicts(actual: Any, expected: dict[Any, Any]) -> Finding:
    if not isinstance(actual, dict):
        return _wrong_type(actual, expected)
    if not actual and expected:
        return "nothing", {}
    if not same_keys(actual, expected):
        return "missing_keys", {}
    key = next(key for key in expected if not same(actual[key], expected[key]))
    return difference(actual[key], expected[key])


def _tensors(actual: Any, expected: Tensor) -> Finding:
    if isinstance(actual, bool | int | float):
        return "scalar_for_tensor", {}
    if isinstance(actual, list | tuple):
        if any(same(item, expected) for item in leaves(actual)):
            return "nested", {}
        return _wrong_type(actual, expected)
    if not isinstance(actual, Tensor):
        return _wrong_type(actual, expected)
    if actual.array.shape != expected.array.shape:
        shapes = {"seen_shape": actual.array.shape, "wanted_shape": expected.array.shape}
        return "wrong_shape", dict(shapes)
    if actual.kind != expected.kind:
        return "wrong_dtype", {"seen_kind": actual.kind, "wanted_kind": expected.kind}
    if actual.kind != "float":
        return "different", {}
    if not np.isfinite(actual.array).all() and np.isfinite(expected.array).all():
        return "not_finite", {}
    return _factor_or_offset(actual.array.ravel(), expected.array.ravel()) or ("different", {})


def _factor_or_offset(actual: np.ndarray, expected: np.ndarray) -> Finding | None:
    """Only claimed where at least two different numbers agree on it."""
    with np.errstate(all="ignore"):  # a warning would be printed to stderr
        return _shift(actual.astype("float64"), expected.astype("float64"))


def _shift(actual: np.ndarray, expected: np.ndarray) -> Finding | None:
    if not (np.isfinite(actual).all() and np.isfinite(expected).all()):
        return None
    if actual.size < 2 or np.ptp(expected) < 1e-6 or (np.abs(expected) < 1e-9).any():
        return None
    factors, offsets = actual / expected, actual - expected
    if _constant(factors) and abs(factors[0]) > 1e-9 and f"{factors.mean():.3g}" != "1":
        return "constant_factor", {"factor": f"{factors.mean():.3g}"}
    if _constant(offsets) and abs(offsets[0]) > 1e-9:
        return "constant_offset", {"offset": f"{offsets.mean():.3g}"}
    return None


def _constant(values: np.ndarray) -> bool:
    return bool(np.allclose(values, values[0], rtol=1e-4, atol=1e-6))


def _numbers(actual: Any, expected: Any) -> Finding:
    """``expected`` is a number, or a limit for one."""
    if isinstance(actual, Tensor):
        return "tensor_for_number", {}
    if not is_number(actual):
        return "wrong_type", {"seen_type": _type(actual), "wanted_type": "a number"}
    if math.isnan(actual) or (math.isinf(actual) and is_number(expected)):
        return "not_finite", {}
    if isinstance(expected, AtMost):
        return "too_many", {}
    if isinstance(expected, AtLeast):
        return "too_few", {}
    if isinstance(expected, int) and isinstance(actual, int):
        return ("too_many" if actual > expected else "too_few"), {}
    return "different", {}
