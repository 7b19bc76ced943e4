"""Reads a notebook file that anybody may have written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

MAX_FILE = 30_000_000  # bytes; outputs with pictures are in there
MAX_CELLS = 2_000
MAX_SOURCE = 200_000  # characters in one cell
MAX_ITEMS = 1_000_000  # in all lists and objects; each takes some 70 bytes once it is read
# Also one without an end, as otherwise each quote after it would be tried as a beginning.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)


class NotebookError(ValueError):
    """A file that can't be read as a notebook. The message says why, without the file's name."""


@dataclass(frozen=True)
class Cell:
    """What is read of a cell: its source, and two claims that only help to recognise it.

    Attributes:
        attachments: pictures pasted into a text cell, as base64 by kind, by the file's name.
    """

    source: str
    is_code: bool
    grade_id: str | None = None
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def functions(self) -> frozenset[str]:
        """Functions that a code cell defines, but not as methods or inside other functions.

        By the text, line by line, as the code needn't be valid: learners hand in unfinished work.
        """
        return _functions(self.source) if self.is_code else frozenset()


_FUNCTION = re.compile(r"(?:async\s+)?def\s+(\w+)\s*\(|(\w+)\s*=\s*lambda\b")
_SCOPE = re.compile(r"(async\s+def|def|class)\b")


def _functions(source: str) -> frozenset[str]:
    if "def" not in source and "lambda" not in source:
        return frozenset()
    names = set()
    scopes: list[int] = []  # how far the classes and functions around a line are indented
    for line in source.expandtabs().splitlines():
        words = line.lstrip()
        indent = len(line) - len(words)
        if not words or words.startswith("#"):
            continue
        while scopes and scopes[-1] >= indent:
            scopes.pop()
        found = _FUNCTION.match(words)
        if found and not scopes:
            names.add(found[1] or found[2])
        if _SCOPE.match(words):
            scopes.append(indent)
    return frozenset(names)


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook in order, whatever its nbformat version (3 or newer).

    Raises:
        NotebookError: the file is missing, empty, too large, no JSON, or no notebook.
    """
    try:
        # A pipe or a device has no end, or keeps one waiting for ever.
        if path.exists() and not path.is_file():
            raise NotebookError("it is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise NotebookError(f"can't be read ({error.strerror})") from error
    return parse_cells(data)


def parse_cells(data: bytes) -> list[Cell]:
    """As :func:`read_cells`, from the file's bytes."""
    if len(data) > MAX_FILE:
        raise NotebookError(f"the file is larger than {MAX_FILE // 1_000_000} MB")
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        raise NotebookError("the file is empty")
    # While it is read, no other thread of the grader runs.
    if sum(map(_STRING.sub(b"", data).count, (b",", b"[", b"{"))) > MAX_ITEMS:
        raise NotebookError(f"the file holds more than {MAX_ITEMS} items")
    try:
        content = json.loads(data.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise NotebookError("the file is not JSON, so it is no notebook") from error
    if not isinstance(content, dict):
        raise NotebookError("the file is JSON, but no notebook")
    cells = content.get("cells")
    if cells is None:  # nbformat 3 keeps its cells in worksheets
        sheets = content.get("worksheets")
        cells = [
            cell
            for sheet in (sheets if isinstance(sheets, list) else [])
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
        if not cells:
            raise NotebookError("the file holds no cells")
    if not isinstance(cells, list):
        raise NotebookError("the file is JSON, but no notebook")
    if len(cells) > MAX_CELLS:
        raise NotebookError(f"the notebook holds more than {MAX_CELLS} cells")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _cell(cell: Mapping[str, Any]) -> Cell:
    source = cell.get("source", cell.get("input", ""))  # nbformat 3 says "input"
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        source = ""
    if len(source) > MAX_SOURCE:
        raise NotebookError(f"a cell is longer than {MAX_SOURCE} characters")
    # Lone surrogates can't be written anywhere later on.
    source = source.encode("utf-8", errors="replace").decode("utf-8")
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    is_code = cell.get("cell_type") == "code"
    return Cell(
        source.replace("\r\n", "\n"),
        is_code,
        grade_id if isinstance(grade_id, str) else None,
        {} if is_code else _pictures(cell.get("attachments")),
    )


_PICTURE = re.compile(r"image/(png|jpeg|gif|webp)")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


def _pictures(attachments: object) -> dict[str, dict[str, str]]:
    """Pictures only, and only what is base64: they go into a page's HTML."""
    found: dict[str, dict[str, str]] = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        for kind, data in bundle.items() if isinstance(bundle, dict) else ():
            data = "".join(data) if isinstance(data, list) and all(map(_is_text, data)) else data
            if _PICTURE.fullmatch(kind) and _is_text(data) and _BASE64.fullmatch(data):
                found.setdefault(name, {})[kind] = data
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str)
