"""nbgrader's settings for this course: run its commands in this folder.

nbgrader generate_assignment 01_add_and_model
nbgrader autograde 01_add_and_model
nbgrader generate_feedback 01_add_and_model
"""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import is_grade

# nbgrader starts `alembic` by name; this finds it where the venv isn't activated.
BIN = str(Path(sys.executable).parent)
if BIN not in os.environ["PATH"].split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join([BIN, os.environ["PATH"]])

c = get_config()  # noqa: F821  (traitlets puts it here when it reads this file)

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "pytorch_hooks"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

c.ClearSolutions.code_stub = {"python": "raise Todo  # replace this line with your code"}

# The sentence of a failed check is shown whole.
c.Validator.width = 1000

# Seconds a cell may take: the first imports torch, which is slow on a busy machine.
c.Execute.timeout = 30
c.Execute.iopub_timeout = 30


# What `nbgrader autograde` and formgrader's Autograde button use: this project's engine.
c.Autograde.sanitize_preprocessors = ["autograder.desk.plugin.Rebuild"]
c.Autograde.autograde_preprocessors = [
    "autograder.desk.plugin.Run",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
# Nothing that a learner wrote runs in an instructor's browser.
c.HTMLExporter.filters = {"markdown2html": "autograder.desk.safe.markdown2html"}


class HideTests(ClearHiddenTests):
    """Keeps hidden tests out of the feedback: their code, and the code that an error quotes.

    Only check cells are looked at: a learner may write "BEGIN HIDDEN TESTS" where they like.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        if not is_grade(cell):
            return cell, resources
        shown = cell.source
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if cell.source != shown:
            for output in cell.outputs:
                if output.output_type == "error" and len(output.traceback) > 1:
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


c.GenerateFeedback.preprocessors = [GetGrades, HideTests, CSSHTMLHeaderPreprocessor]
