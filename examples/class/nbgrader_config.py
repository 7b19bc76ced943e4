"""nbgrader's settings for this class: those of the course, for this folder."""

from pathlib import Path

c = get_config()  # noqa: F821  (traitlets puts it here, and load_subconfig too)

load_subconfig("../../nbgrader_config.py")  # noqa: F821  (as above)
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "../../solutions"
