"""How much one notebook may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one submission. Times are wall-clock seconds, kept by the parent."""

    cell_seconds: float = 10.0
    notebook_seconds: float = 120.0
    memory_bytes: int = 4 * 2**30  # address space; torch alone takes about 0.8 GB of it
    output_chars: int = 100_000  # printed text of one cell
    data_chars: int = 2_000_000  # displayed data of one cell: pictures as base64, HTML
    outputs: int = 200  # output items of one cell
    file_bytes: int = 64 * 2**20  # the largest file that a cell can write
