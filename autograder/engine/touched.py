"""Whether a namespace was written to, without looking at what is in it.

To compare a module's thousand names counts a reference to each value, and so a forked child copies
the pages of them all. CPython 3.11 to 3.13 give each dict a number that is another one after each
change (PEP 509, ``ma_version_tag``).
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Mapping
from typing import Any


class _Dict(ctypes.Structure):
    """The head of CPython's ``PyDictObject``."""

    _fields_ = [
        ("ob_refcnt", ctypes.c_ssize_t),
        ("ob_type", ctypes.c_void_p),
        ("ma_used", ctypes.c_ssize_t),
        ("ma_version_tag", ctypes.c_uint64),
    ]


def touched(names: Mapping[str, Any]) -> Callable[[], bool]:
    """A function that says whether ``names``, some ``vars(...)``, may have changed since now.

    Where this Python has no such number it always says yes.
    """
    # The proxy of a class's names refers to their dict.
    found = [names] if isinstance(names, dict) else gc.get_referents(names)
    if not _WORKS or len(found) != 1 or type(found[0]) is not dict:
        return lambda: True
    place = id(found[0])
    before = _tag(place)
    return lambda: _tag(place) != before


def _tag(place: int) -> int:
    return int(_Dict.from_address(place).ma_version_tag)


def _works() -> bool:
    """See that the number is where it is looked for, and does what it should."""
    if sys.implementation.name != "cpython" or hasattr(sys, "getobjects"):  # another layout
        return False
    probe: dict[str, Any] = {"a": 1}
    seen = [_tag(id(probe))]
    probe["b"] = 2
    seen.append(_tag(id(probe)))
    probe["b"] = 3
    seen.append(_tag(id(probe)))
    del probe["a"]
    seen.append(_tag(id(probe)))
    dict(probe), probe.get("b"), list(probe)
    return len(set(seen)) == len(seen) and _tag(id(probe)) == seen[-1]


_WORKS = (3, 11) <= sys.version_info < (3, 14) and _works()
