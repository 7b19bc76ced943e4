"""The sentences that learners read: one shared table, and one that ships with each lesson."""

from __future__ import annotations

import functools
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path


class WordsError(ValueError):
    """A table of sentences that can't be used. The message names the file and the entry."""


@dataclass(frozen=True)
class Sentence:
    """What to say of one mistake, and which of the exercise's hints fits (1 to 3, or none)."""

    says: str
    hint: int | None = None

    def filled(self, params: Mapping[str, object]) -> str:
        """The sentence with its ``$names`` filled in."""
        return string.Template(self.says).safe_substitute(params)


Words = Mapping[str, Sentence]


def parse(text: str, name: str) -> dict[str, Sentence]:
    """Read a table of ``[mistake]`` entries with ``says`` and, where one fits, ``hint``.

    Raises:
        WordsError: naming ``name`` and the entry that is wrong.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WordsError(f"{name}: {error}") from error
    words = {}
    for mistake, entry in table.items():
        says = entry.get("says") if isinstance(entry, dict) else None
        if not isinstance(says, str) or not says.strip():
            raise WordsError(f"{name}: [{mistake}] needs a text `says`")
        hint = entry.get("hint")
        if repr(hint) not in ("None", "1", "2", "3") or set(entry) - {"says", "hint"}:
            raise WordsError(f"{name}: [{mistake}] may hold `says` and `hint` (1, 2 or 3) only")
        words[mistake] = Sentence(" ".join(says.split()), hint)
    return words


@functools.cache
def shared() -> Words:
    """The sentences every lesson has."""
    text = resources.files(__package__).joinpath("words.toml").read_text("utf-8")
    return parse(text, "words.toml")


def for_lesson(path: Path | None) -> Words:
    """The shared sentences with those of a lesson's ``mistakes.toml``, where there is one.

    Raises:
        WordsError: the table is there and can't be used.
    """
    if path is None or not path.is_file():
        return shared()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WordsError(f"{path}: {error}") from error
    return {**shared(), **parse(text, str(path))}
