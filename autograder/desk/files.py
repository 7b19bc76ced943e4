"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, over an older one that may be read-only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Always the same name: what a killed process leaves is gone with the next try.
    half = path.with_name(f".{path.name}.half")
    try:
        half.write_text(text, "utf-8", "backslashreplace")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
