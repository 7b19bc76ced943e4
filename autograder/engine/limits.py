"""How much one notebook may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Limits of one submission, which the lessons stay far below.

    Wall-clock times and outputs are kept by the parent, the other limits by the kernel; in tier B
    (see :mod:`autograder.engine.tiers`) the server looks how much disk is taken.
    """

    cell_seconds: float = 10.0
    notebook_seconds: float = 120.0  # however often it is run
    cpu_seconds: int = 120  # of all threads together, each time the notebook is run
    memory_bytes: int = 4 * 2**30  # address space; torch alone takes about 0.8 GB of it
    output_chars: int = 100_000  # printed text of one cell
    data_chars: int = 2_000_000  # displayed data of one cell: pictures as base64, HTML
    outputs: int = 200  # output items of one cell
    outputs_bytes: int = 20 * 2**20  # of all cells together, as the grader holds them in memory
    file_bytes: int = 64 * 2**20  # the largest file that a cell can write
    disk_bytes: int = 256 * 2**20  # all files together
    files: int = 10_000  # files and folders
    open_files: int = 256  # descriptors
    threads: int = 256  # where the outer wall stands; elsewhere memory bounds them

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Limits:
        """Limits with some other values, whose text or number came from a person.

        Raises:
            LimitError: there is no such limit, or it is no positive number.
        """
        kinds = {name: type(value) for name, value in vars(cls()).items()}
        found: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in kinds:
                raise LimitError(f"there is no limit {name!r}; limits are {', '.join(kinds)}")
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                number = 0.0
            whole = kinds[name] is int
            if not 0 < number < 2**53 or (whole and not number.is_integer()):
                kind = "a whole number" if whole else "a number"
                raise LimitError(f"the limit {name} is {kind} above 0, and not {value!r}")
            found[name] = kinds[name](number)
        return cls(**found)


class LimitError(ValueError):
    """A limit that is none. The message says which ones there are."""
