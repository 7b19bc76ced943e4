"""nbgrader's view of a course: its settings, and a master as nbgrader records it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import ValidationError, read
from nbgrader.preprocessors import (
    AssignLatePenalties,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.course import CourseError, Master

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Settings:
    """What nbgrader's own commands would use in this folder."""

    root: Path
    config: Config
    db_url: str
    course_id: str

    @classmethod
    def of(cls, root: Path) -> Settings:
        """Read the folder's ``nbgrader_config.py``, and those of the machine and the user.

        Raises:
            CourseError: a settings file stops with an error.
        """
        config = Config()
        for folder in reversed([str(root), *jupyter_config_path()]):
            if (Path(folder) / CONFIG).is_file():
                try:
                    config.merge(PyFileConfigLoader(CONFIG, path=folder).load_config())
                except Exception as error:  # the file is a program: anything can happen
                    raise CourseError(f"{Path(folder) / CONFIG}: {error}") from error
        config.CourseDirectory.root = str(root)
        directory = CourseDirectory(config=config)
        return cls(root, config, directory.db_url, directory.course_id)

    def late_penalty(self) -> Any:
        """nbgrader's plug-in that says what being late costs (by default nothing)."""
        step = AssignLatePenalties(config=self.config)
        step.init_plugin()
        return step


@dataclass(frozen=True)
class Source:
    """A master as ``nbgrader generate_assignment`` records it in the gradebook.

    Solutions are cleared, hidden tests still there, each graded or locked cell with its checksum.
    """

    master: Master
    notebook: Any

    def cells(self) -> Iterator[tuple[str, Any]]:
        """The cells with the ids that :class:`autograder.course.MasterCell` gives them."""
        for number, cell in enumerate(self.notebook.cells, 1):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            yield name or f"cell_{number}", cell


def read_source(master: Master, settings: Settings) -> Source:
    """Take a master through nbgrader's own steps.

    Raises:
        CourseError: nbgrader refuses it.
    """
    try:
        with master.path.open(encoding="utf-8") as file:
            notebook = read(file, as_version=4)
        for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
            notebook, _ = step(config=settings.config).preprocess(notebook, {})
    except (OSError, ValueError, RuntimeError, ValidationError) as error:
        raise CourseError(f"{master.path}: nbgrader can't read it ({error})") from error
    return Source(master, notebook)
