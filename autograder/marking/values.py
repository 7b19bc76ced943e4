"""Values as they are compared: copies of exact types, with no learner code left in them.

``freeze`` turns a live object into a frozen one: None, bool, int, float, str, list, tuple and
dict stay what they are, a tensor becomes a :class:`Tensor` on numpy, and anything else (a
subclass, a generator, an array, something too large) an :class:`Other` that equals nothing.
Types are told apart by identity, so that no method of a learner's class is ever asked.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from .traces import handed_on_coroutine

MAX_DEPTH = 16
MAX_ITEMS = 2_000
MAX_BYTES = 4_000_000
MAX_TEXT = 2_000
MAX_BITS = 1_023  # of an int, so that it always fits into a float
MAX_NAME = 100

_NUMPY = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# torch dtypes without a numpy twin travel as float32; the name is kept.
_AS_FLOAT32 = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
DTYPES = {
    **{name: np.dtype(name) for name in _NUMPY},
    **{name: np.dtype("float32") for name in _AS_FLOAT32},
}


class BadValue(ValueError):
    """An encoded value that breaks the format or its limits."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor's content. ``dtype`` is torch's name without ``torch.``; ``array`` has its shape."""

    dtype: str
    array: np.ndarray

    @property
    def kind(self) -> str:
        """'bool', 'int', 'float' or 'complex'."""
        return {"b": "bool", "u": "int", "i": "int", "f": "float", "c": "complex"}[
            self.array.dtype.kind
        ]


@dataclass(frozen=True)
class Other:
    """Something that is not one of the plain types. It equals nothing, not even itself."""

    type_name: str
    text: str = ""

    @property
    def too_much(self) -> bool:
        """Whether only its size keeps it from being compared."""
        return self.text.startswith("too ")


@dataclass(frozen=True)
class Raised:
    """An exception that came out of the code under check."""

    type_name: str
    message: str


@dataclass(frozen=True)
class OneOf:
    """Any of several values is right."""

    options: tuple[Any, ...]


@dataclass(frozen=True)
class AtMost:
    """A number not above ``limit``."""

    limit: float


@dataclass(frozen=True)
class AtLeast:
    """A number not below ``limit``."""

    limit: float


def one_of(*options: object) -> OneOf:
    """Expect any one of ``options``."""
    return OneOf(options)


def at_most(limit: float) -> AtMost:
    """Expect a number that is ``limit`` or less."""
    return AtMost(limit)


def at_least(limit: float) -> AtLeast:
    """Expect a number that is ``limit`` or more."""
    return AtLeast(limit)


def raised(error: BaseException) -> Raised:
    """Freeze an exception: its type's name and its text, cut to a bounded length."""
    try:
        text = _exact(str(error), MAX_TEXT)
    except BaseException:  # a learner's own __str__ may do anything
        text = ""
    if handed_on_coroutine(error):
        text = f"{text[: MAX_TEXT - 50]} (a coroutine was handed on)"
    return Raised(type_name(type(error)), text)


def observe(actual: object) -> Any:
    """The frozen value of ``expect``'s first argument.

    A function without arguments is called for it; what it raises is the value. ^C goes on upwards.
    """
    if type(actual) is not FunctionType:
        return freeze(actual)
    try:
        return freeze(actual())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # exit() too: the check says so, and the notebook goes on
        return raised(error)


class Budget:
    """What one value may still hold: items and bytes.

    Freezing and decoding pay the same before they look inside: what was frozen can be decoded.
    """

    def __init__(self) -> None:
        self.items = MAX_ITEMS
        self.bytes = MAX_BYTES

    def take(self, items: int = 0, nbytes: int = 0) -> bool:
        """Pay, if there is enough left of both."""
        if items > self.items or nbytes > self.bytes:
            return False
        self.items -= items
        self.bytes -= nbytes
        return True


def freeze(value: object) -> Any:
    """Copy ``value`` into its frozen form. Never raises on what a learner can build."""
    return _freeze(value, 0, Budget())


def _freeze(value: Any, depth: int, budget: Budget) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        return value if value.bit_length() <= MAX_BITS else Other("int", "too large a number")
    if kind is str:
        if len(value) <= MAX_TEXT and budget.take(nbytes=len(value)):
            return value
        return Other("str", f"too long: {len(value)} characters")
    if kind is list or kind is tuple or kind is dict or kind is OneOf:
        return _freeze_items(value, kind, depth, budget)
    if kind is AtMost or kind is AtLeast:
        return value if type(value.limit) in (int, float) else Other(kind.__name__)
    if kind is Raised:
        return Raised(_exact(value.type_name, MAX_NAME), _exact(value.message, MAX_TEXT))
    if kind is Other:
        return Other(_exact(value.type_name, MAX_NAME), _exact(value.text, MAX_TEXT))
    if kind is Tensor:
        return _sound(value.dtype, value.array)
    torch = sys.modules.get("torch")  # marking itself never imports torch
    if torch is not None and (kind is torch.Tensor or kind is torch.nn.Parameter):
        return _freeze_tensor(value, budget)
    return Other(type_name(kind))


def _freeze_items(value: Any, kind: type, depth: int, budget: Budget) -> Any:
    items = value.options if kind is OneOf else value
    if depth > MAX_DEPTH:
        return Other(type_name(kind), "too deeply nested")
    if not budget.take(len(items) * (2 if kind is dict else 1)):
        return Other(type_name(kind), f"too many items: {len(items)}")
    if kind is dict:
        if not all(map(_is_key, value)):
            return Other("dict", "its keys are not all texts or numbers")
        return {key: _freeze(item, depth + 1, budget) for key, item in list(value.items())}
    frozen = tuple(_freeze(item, depth + 1, budget) for item in items)
    return OneOf(frozen) if kind is OneOf else kind(frozen)


def _is_key(key: Any) -> bool:
    kind = type(key)
    if kind is str:
        return len(key) <= MAX_TEXT
    if kind is int:
        return key.bit_length() <= MAX_BITS
    return key is None or kind is bool or kind is float


def type_name(kind: type) -> str:
    """A class's own name, whatever its metaclass says."""
    return _exact(type.__dict__["__name__"].__get__(kind), MAX_NAME)


def _exact(text: Any, longest: int) -> str:
    """Up to ``longest`` characters as an exact str; '' for what is no text."""
    return str.__getitem__(text, slice(0, longest)) if issubclass(type(text), str) else ""


def _freeze_tensor(value: Any, budget: Budget) -> Tensor | Other:
    try:
        name = str(value.dtype).removeprefix("torch.")
        shape = tuple(map(int, value.shape))
        if name not in DTYPES:
            return Other("Tensor", f"of dtype {name}")
        # Before any copy: an expanded tensor is far larger than its memory.
        if not budget.take(nbytes=value.numel() * DTYPES[name].itemsize) or any(
            n > MAX_BYTES for n in shape
        ):
            return Other("Tensor", f"too large: shape {shape}")
        plain = value.detach().cpu()
        if name in _AS_FLOAT32:
            plain = plain.float()
        # resolve_*: lazily conjugated or negated tensors have no numpy view.
        array = plain.resolve_conj().resolve_neg().contiguous().numpy()
        return _sound(name, array.copy(), shape)
    except Exception as error:  # sparse, meta, freed or otherwise unreadable tensors
        return Other("Tensor", f"unreadable: {type_name(type(error))}")


def _sound(name: Any, array: Any, shape: tuple[int, ...] | None = None) -> Tensor | Other:
    """A tensor, if its parts fit: learners can build one of their own, or patch torch's methods."""
    fits = type(name) is str and type(array) is np.ndarray and array.dtype == DTYPES.get(name)
    return Tensor(name, array) if fits and shape in (None, array.shape) else Other("Tensor")
