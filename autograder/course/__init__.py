"""Reads masters, and rebuilds a trustworthy notebook from an untrusted one.

Pure: it runs nothing and knows no other room of the house.
"""

from .master import STUB, Course, CourseError, Exercise, Master, MasterCell, read_master
from .notebook import Cell, NotebookError, parse_cells, read_cells
from .plan import Plan, PlanCell, Role, rebuild, recognise, reference_plan
from .rules import check_master
from .strip import strip

__all__ = [
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
    "check_master",
    "parse_cells",
    "read_cells",
    "read_master",
    "rebuild",
    "recognise",
    "reference_plan",
    "strip",
]
