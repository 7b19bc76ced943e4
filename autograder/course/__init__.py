"""Reads masters, and rebuilds a trustworthy notebook from an untrusted one.

Pure: it runs nothing and knows no other room of the house.
"""

from .explain import Solution, heading, heading_of, solution, title
from .master import (
    ANSWER_SUFFIX,
    OWN,
    STUB,
    Course,
    CourseError,
    Exercise,
    Master,
    MasterCell,
    folders_around,
    read_master,
)
from .notebook import Cell, NotebookError, parse_cells, read_cells
from .plan import Plan, PlanCell, Role, rebuild, recognise, reference_plan
from .rules import check_master
from .strip import strip

__all__ = [
    "ANSWER_SUFFIX",
    "OWN",
    "STUB",
    "Cell",
    "Course",
    "CourseError",
    "Exercise",
    "Master",
    "MasterCell",
    "NotebookError",
    "Plan",
    "PlanCell",
    "Role",
    "Solution",
    "check_master",
    "folders_around",
    "heading",
    "heading_of",
    "parse_cells",
    "read_cells",
    "read_master",
    "rebuild",
    "recognise",
    "reference_plan",
    "solution",
    "strip",
    "title",
]
