"""Attacks on the machine that grades, a module for each family.

Each attack is the body of a function in a notebook's cell. It returns where it has done what it
wanted, and raises where it was refused. ``target`` holds what the test put up for it: a file
outside, a listening socket, a process (see ``test_attacks.py``); ``call`` makes a system call by
its name and raises OSError where it fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

End = Literal["refused", "done", "crashed", "timed out"]
"""How it ends: 'refused': with an error in Python. 'done': it got its way, and it does not matter,
as the comment says. 'crashed': its process was ended. 'timed out': the parent's clock ended it."""


@dataclass(frozen=True)
class Attack:
    """An attack, and what becomes of it.

    Attributes:
        rule: what stops it; another rule for each attack.
        code: lines of Python.
        inside, inner: how it ends in tier A and in tier B.
        bare: how it ends in tier C, which shows that it is one; None where that isn't tried.
    """

    name: str
    rule: str
    code: str
    inside: End = "refused"
    inner: End = "refused"
    bare: End | None = "done"
