"""nbgrader's settings for this course: run its commands in this folder.

nbgrader generate_assignment 01_add_and_model
nbgrader autograde 01_add_and_model
nbgrader generate_feedback 01_add_and_model
"""

import os
import sys
import textwrap
from pathlib import Path

import zmq
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import compute_checksum, is_grade

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

# Without this, each kernel warns in the terminal that it talks unencrypted.
if zmq.has("curve"):
    c.KernelManager.transport_encryption = "auto"


def name_the_check(cell, cell_index, execute_reply):
    """For the Validate button: of a check that failed, its first line and the sentence.

    nbgrader would show all of the check's code above the sentence. Where a learner has edited a
    check, everything stays as it is, so that nbgrader can say so.
    """
    if os.environ.get("NBGRADER_EXECUTION") != "validate" or not is_grade(cell):
        return
    if compute_checksum(cell) == cell.metadata.nbgrader.get("checksum"):
        cell.source = cell.source.partition("\n")[0]
        cell.metadata.nbgrader.checksum = compute_checksum(cell)
    for output in cell.outputs:
        if output.output_type == "error" and len(output.traceback) == 1:
            output.traceback = textwrap.wrap(output.traceback[0], 95)


c.Execute.on_cell_error = name_the_check


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
