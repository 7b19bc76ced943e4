"""A lesson's cells may be run again, and in any order: at worst they answer in one line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from kernel import Kernel, errors

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.is_dir())
_SETS_UP = re.compile(r"^(class|import|from)\b", re.M)


def code_cells(path: Path) -> list[tuple[str, str]]:
    """(grade_id, source) of each code cell but ``check()``, which has tests of its own."""
    cells = json.loads(path.read_text())["cells"]
    found = [
        (cell["metadata"]["nbgrader"]["grade_id"], "".join(cell["source"]))
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    return [(name, source) for name, source in found if name != "given_check"]


@pytest.mark.parametrize("solved", [True, False], ids=["solved", "unsolved"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_backwards_and_twice_no_cell_shows_a_traceback(
    lesson: str, solved: bool, tmp_path: Path
) -> None:
    (path,) = (ROOT / ("solutions" if solved else "notebooks") / lesson).glob("*.ipynb")
    shutil.copy(path, tmp_path)
    shutil.copy(path.parent / "mistakes.toml", tmp_path)
    cells = code_cells(path)
    set_up = [cell for cell in cells if "given" in cell[0] and _SETS_UP.search(cell[1])]
    twice = [cell for cell in cells for _ in range(2)]
    with Kernel(tmp_path) as kernel:
        for name, source in [*set_up, *reversed(cells), *twice]:
            for lines in errors(kernel.run(source)):
                assert len(lines) == 1, (name, lines)
                assert "\n" not in lines[0], (name, lines)
                assert "--->" not in lines[0]
        # After all of it, a solved lesson is still solved.
        wrong = [name for name, source in cells if errors(kernel.run(source))]
    assert bool(wrong) is not solved
