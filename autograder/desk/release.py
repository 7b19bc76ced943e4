"""Builds the release in ``notebooks/`` from the masters, and refuses masters that aren't right."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from logging.handlers import BufferingHandler
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from autograder.course import STUB, Course, CourseError, Master, read_cells, read_master

RELEASE = "notebooks"
_CONFIG = "nbgrader_config.py"
_SOURCE = '_source = ""'  # in the first cell of a lesson


def generate(course: Course, lesson: str, folder: Path) -> dict[str, bytes]:
    """Convert a lesson with nbgrader's generate-assignment; the files by their path in it.

    Args:
        folder: an empty folder to work in.

    Raises:
        CourseError: nbgrader refuses the master; the message holds what it said.
    """
    config = Config()
    with contextlib.suppress(ConfigFileNotFound):  # nbgrader's defaults do, too
        config = PyFileConfigLoader(_CONFIG, path=str(course.root)).load_config()
    shutil.copytree(course.solutions / lesson, folder / "solutions" / lesson, ignore=_ignored)
    _tell_source(course, folder / "solutions" / lesson)
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.source_directory = "solutions"
    config.CourseDirectory.release_directory = RELEASE
    config.CourseDirectory.assignment_id = lesson
    config.SaveCells.enabled = False  # no gradebook is touched
    config.GenerateAssignment.no_database = True
    logger = logging.getLogger("autograder.release")
    handler = BufferingHandler(1_000)
    handler.setLevel(logging.WARNING)
    logger.handlers, logger.propagate = [handler], False
    converter = GenerateAssignment(
        coursedir=CourseDirectory(config=config), config=config, log=logger
    )
    try:
        converter.start()
    except Exception as error:
        said = " ".join(record.getMessage() for record in handler.buffer)
        raise CourseError(
            f"{course.solutions / lesson}: nbgrader can't release it: {error} {said}"
        ) from error
    made = folder / RELEASE / lesson
    return {
        str(path.relative_to(made)): path.read_bytes()
        for path in sorted(made.rglob("*"))
        if path.is_file()
    }


def _tell_source(course: Course, folder: Path) -> None:
    """Write the project's address, where pyproject.toml gives one, into a lesson's first cell."""
    settings = course.root / "pyproject.toml"
    project = tomllib.loads(settings.read_text("utf-8")) if settings.is_file() else {}
    source = project.get("project", {}).get("urls", {}).get("Source")
    if not source:
        return
    for path in folder.glob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code" and _SOURCE in text:
                cell["source"] = text.replace(_SOURCE, f"_source = {source!r}")
        path.write_text(json.dumps(notebook), "utf-8")


_ignored = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__", ".*")


def build(course: Course, lesson: str) -> dict[str, bytes]:
    """The release of a lesson, looked over.

    Raises:
        CourseError: nbgrader refuses it, or something of the master would be seen by learners.
    """
    master = course.master(lesson)
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        folder = Path(temporary)
        files = generate(course, lesson, folder)
        found = list(_leaks(master, folder / RELEASE / lesson / master.path.name))
    if found:
        raise CourseError(f"{master.path}: " + "; ".join(found))
    return files


def _leaks(master: Master, path: Path) -> Iterator[str]:
    """Where the released cells are not what they should be."""
    released = {cell.grade_id: cell for cell in read_cells(path) if cell.grade_id}
    for cell in master.cells:
        if cell.kind not in ("answer", "check"):
            continue
        if cell.grade_id not in released:
            yield f"cell {cell.grade_id!r} is not in the release"
        elif released[cell.grade_id].source.rstrip() != cell.release.rstrip():
            yield f"cell {cell.grade_id!r} is released otherwise than by its marks"
    if any(cell.kind == "prose" and not cell.grade_id for cell in read_master(path).cells) != any(
        cell.kind == "prose" and not cell.grade_id for cell in master.cells
    ):
        yield "the texts are not in the release"


def differing(course: Course, lesson: str, files: dict[str, bytes]) -> list[str]:
    """Files of the release on disk that are not what ``files`` says, or missing, or strange."""
    folder = course.root / RELEASE / lesson
    on_disk = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    return sorted(
        f"{RELEASE}/{lesson}/{name}"
        for name in on_disk | set(files)
        if name not in files or name not in on_disk or (folder / name).read_bytes() != files[name]
    )


def worked_on(course: Course, lesson: str) -> list[str]:
    """Answer cells of the release on disk in which somebody has written something."""
    master = course.master(lesson)
    path = course.root / RELEASE / lesson / master.path.name
    if not path.is_file():
        return []
    answers = {cell.grade_id for cell in master.cells if cell.kind == "answer"}
    return [
        cell.grade_id
        for cell in read_cells(path)
        if cell.grade_id in answers and STUB not in cell.source
    ]


def write(course: Course, lesson: str, files: dict[str, bytes]) -> None:
    """Put a release on disk."""
    folder = course.root / RELEASE / lesson
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
