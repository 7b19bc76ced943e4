"""Small tools that all benchmarks share."""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LESSON = "01_add_and_model"
NOTEBOOK = "add_and_model.ipynb"
# nbgrader's own steps, where the course's settings have the engine's.
OWN_STEPS = "\nfor step in 'sanitize', 'autograde':\n    del c.Autograde[f'{step}_preprocessors']\n"


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    names = ("torch", "nbgrader", "ipython", "numpy")
    return {
        "processor": model,
        "cores": str(len(os.sched_getaffinity(0))),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in names},
        "load before": f"{os.getloadavg()[0]:.1f}",
    }


def spread(values: Iterable[float]) -> str:
    """Median with the quartiles, in three digits."""
    values = sorted(values)
    if len(values) < 4:
        return f"{statistics.median(values):.3g}"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def timed(*command: str, cwd: Path = ROOT) -> float:
    """Seconds that a command takes; its exit code is the caller's to know."""
    started = time.perf_counter()
    subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    return time.perf_counter() - started


def submissions() -> list[str]:
    """A class: each file of the answer bank in an otherwise solved notebook, as JSON texts."""
    solution = json.loads((ROOT / "solutions" / LESSON / NOTEBOOK).read_text())
    release = json.loads((ROOT / "notebooks" / LESSON / NOTEBOOK).read_text())
    answers = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in solution["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    found = []
    for path in sorted((ROOT / "tests" / "answers" / LESSON).glob("*/*/*.py")):
        mine = {**answers, path.parts[-3] + "_answer": path.read_text()}
        for cell in release["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if name in mine:
                cell["source"] = mine[name]
        found.append(json.dumps(release))
    return found


def stock_course(folder: Path, texts: list[str]) -> None:
    """A copy of the course with ``texts`` as its class, as nbgrader alone would grade it."""
    for name in ("solutions", "nbgrader_config.py"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(OWN_STEPS)
    subprocess.run(
        [nbgrader(), "generate_assignment", LESSON], cwd=folder, check=True, capture_output=True
    )
    for number, text in enumerate(texts):
        target = folder / "submitted" / f"student_{number:04}" / LESSON
        target.mkdir(parents=True)
        (target / NOTEBOOK).write_text(text)


def nbgrader() -> str:
    """The venv's nbgrader command."""
    return str(Path(sys.executable).with_name("nbgrader"))


def write(name: str, rows: list[tuple[str, str]], notes: Iterable[str] = ()) -> None:
    """Print the figures and keep them in ``benchmarks/NAME.md``."""
    lines = [f"# {name}", "", f"Measured on {time.strftime('%Y-%m-%d')} by `make bench`.", ""]
    lines += ["| what | median (quartiles) |", "|---|---|"]
    lines += [f"| {what} | {value} |" for what, value in rows]
    lines += ["", "Machine: " + "; ".join(f"{k} {v}" for k, v in machine().items()) + ".", ""]
    lines += list(notes)
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    (Path(__file__).parent / f"{name}.md").write_text(text)
