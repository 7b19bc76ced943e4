"""Limits of notebooks, as a course and the command line set them: for all commands alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course import CourseError
from autograder.engine import LimitError, Limits

_CONFIG = "nbgrader_config.py"  # not from .source, which imports nbgrader
_SECTION = "AutograderLimits"
_INCLUDES = "load_subconfig"


def limits(root: Path | None, given: Sequence[str] = ()) -> Limits:
    """The limits: the defaults, then the course's, then those that were ``given``.

    A course sets them in ``nbgrader_config.py``, as ``c.AutograderLimits.cell_seconds = 30``.

    Args:
        root: the course folder, whose settings are run; None: none are.
        given: each as ``name=value``.

    Raises:
        CourseError: there is no such limit, or its value is none, or the course's settings file
        stops with an error.
    """
    settings = {} if root is None else _of_course(root)
    _limits(settings, str(root and root / _CONFIG))
    for text in given:
        name, _, value = text.partition("=")
        settings[name] = value
    return _limits(settings, "--limit")


def limits_of(config: Mapping[str, Any]) -> Limits:
    """The limits as nbgrader's own commands have read them.

    Raises:
        CourseError: as for :func:`limits`.
    """
    return _limits(_section(config), _CONFIG)


def _limits(settings: dict[str, Any], place: str) -> Limits:
    try:
        return Limits.of(settings)
    except LimitError as error:
        raise CourseError(f"{place}: {error}") from error


def _of_course(root: Path) -> dict[str, Any]:
    path = root / _CONFIG
    # Most courses set none, and to run the file takes seconds, as it imports nbgrader.
    text = path.read_text("utf-8", errors="replace") if path.is_file() else ""
    if _SECTION not in text and _INCLUDES not in text:
        return {}
    from traitlets.config.loader import PyFileConfigLoader

    try:
        config = PyFileConfigLoader(_CONFIG, path=str(root)).load_config()
    except Exception as error:  # the file is a program: anything can happen
        raise CourseError(f"{path}: {error}") from error
    return _section(config)


def _section(config: Mapping[str, Any]) -> dict[str, Any]:
    return dict(config.get(_SECTION, {}))
