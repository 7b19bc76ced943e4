"""What nbgrader hands over to grade: a notebook's name, and an assignment whose master is here."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.preprocessors import InstantiateTests
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from autograder import course, marking
from autograder.course import Cell, CourseError, Master, read_master

from .executed import Executed
from .source import Settings, Source, read_source
from .submissions import Found


@dataclass(frozen=True)
class Assignment:
    """One notebook of an assignment. The master's answers are as nbgrader gives them out."""

    master: Master
    executed: Executed

    @classmethod
    def find(cls, coursedir: Any, settings: Settings, known: Mapping[str, str]) -> Assignment:
        """Find the master where nbgrader makes releases from.

        Args:
            coursedir: nbgrader's CourseDirectory.
            known: nbgrader's resources: the names of assignment and notebook.

        Raises:
            CourseError: the master is missing, can't be read, is not Python's, or differs from
            what the gradebook has of it.
        """
        folder = coursedir.format_path(coursedir.source_directory, ".", known["assignment"])
        path = Path(folder) / f"{known['notebook']}.ipynb"
        if not path.is_file():
            raise CourseError(
                f"{path}: the master is not there, and the engine grades by it. Put it back, or "
                "say where masters are with c.CourseDirectory.source_directory"
            )
        master = read_master(path)
        _must_be_python(path)
        source = read_source(master, settings)
        _must_be_recorded(source, settings, known["assignment"])
        cells = tuple(
            replace(cell, stub=node.source) if cell.kind == "answer" else cell
            for cell, node in zip(master.cells, source.notebook.cells, strict=True)
        )
        master = replace(master, cells=cells)
        return cls(master, Executed(source, marking.for_lesson(master.sentences)))

    def look(self, cells: Sequence[Cell]) -> Found:
        """Whether these are the cells of this notebook, and not of another one."""
        name = f"{self.master.name}.ipynb"
        other = course.recognise(cells, [self.master, *self._others()])
        if other is None:
            # It may have nothing but texts, which a notebook is not recognised by.
            names = {cell.grade_id for cell in self.master.cells}
            if any(cell.grade_id in names for cell in cells):
                other = self.master
        if other is None:
            return Found("other lesson", f"{name} holds nothing of this lesson")
        if other is not self.master:
            what = f"{other.lesson}/{other.name}.ipynb"
            return Found("other lesson", f"{name} is a notebook of {what}")
        return Found("found", notebook=Path(name), cells=tuple(cells))

    def _others(self) -> Iterator[Master]:
        for path in sorted(self.master.path.parents[1].glob("[!.]*/[!.]*.ipynb")):
            if path != self.master.path:
                with contextlib.suppress(CourseError):  # not today's notebook
                    yield read_master(path)


def _must_be_python(path: Path) -> None:
    metadata = json.loads(path.read_text("utf-8")).get("metadata", {})
    known = metadata.get("language_info", {}).get("name", "python")
    language = metadata.get("kernelspec", {}).get("language", known)
    if language not in ("python", "ipython"):
        raise CourseError(
            f"{path}: its language is {language}, and the engine runs Python only. Grade this "
            "course with nbgrader's own steps"
        )


def _must_be_recorded(source: Source, settings: Settings, assignment: str) -> None:
    """nbgrader writes marks by the cells that it recorded when it made the release."""
    name = source.master.name
    with Gradebook(settings.db_url, settings.course_id) as gradebook:
        notebook = gradebook.find_notebook(name, assignment)
        recorded = {cell.name: cell.checksum for cell in notebook.source_cells}
        marked = {
            cell.name
            for cells in (notebook.grade_cells, notebook.solution_cells, notebook.task_cells)
            for cell in cells
        }
    here = {}
    for cell in source.notebook.cells:
        counts = is_grade(cell) or is_solution(cell) or is_task(cell)
        if counts or (is_locked(cell) and cell.cell_type == "code"):
            here[cell.metadata.nbgrader.grade_id] = cell.metadata.nbgrader.get("checksum")
    differing = [grade_id for grade_id in here if recorded.get(grade_id) != here[grade_id]]
    differing += sorted(marked - here.keys())
    if not differing:
        return
    what = f"{source.master.path}: cell {differing[0]!r} is not as the gradebook has it"
    delimiter = InstantiateTests(config=settings.config).autotest_delimiter
    if any(delimiter in cell.source for cell in source.notebook.cells):
        raise CourseError(
            f"{what}: nbgrader wrote tests in place of its {delimiter} lines, and the engine can't "
            "run those. Grade this course with nbgrader's own steps"
        )
    raise CourseError(
        f"{what}. Run `nbgrader generate_assignment {assignment} --force`, then autograde again"
    )
