"""A lesson's first cells where the package isn't installed, as on Colab; and what a build writes
into them.

The environment is empty but for a path to the libraries of this one, so that nothing need be
downloaded: pip may not look anywhere else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.course import Course
from autograder.desk import release
from autograder.install import NEEDED

ROOT = Path(__file__).resolve().parent.parent
LESSON = "01_add_and_model"
MASTER = Course(ROOT).master(LESSON)
FIRST = ("given_package", "given_setup")
# IPython shows an error as it does in a notebook.
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
for source in json.load(sys.stdin):
    if not shell.run_cell(source).success:
        sys.exit(1)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with pip and libraries, but without this package."""
    folder = tmp_path_factory.mktemp("environment")
    folder.chmod(0o755)  # else only root could run anything in it
    venv.create(folder, with_pip=True)
    # Python 3.11 brings a setuptools that is older than what pyproject.toml asks for.
    pip = [folder / "bin" / "python", "-m", "pip", "uninstall", "-qy", "setuptools"]
    subprocess.run(pip, check=True, capture_output=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # The package is there by a .pth file of its own, which isn't read in a folder named in one.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def copy_clone(folder: Path) -> Path:
    """What `git clone` would bring, as far as it matters here."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("autograder", "notebooks", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def run(
    python: Path, cells: list[str], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run cells in a folder, where pip may download nothing."""
    away = ("PYTHONPATH", "VIRTUAL_ENV", "NBGRADER_EXECUTION")
    kept = {name: value for name, value in os.environ.items() if name not in away}
    # pip takes this one the other way round: 0 means without isolation.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "HOME": str(folder)}
    return subprocess.run(
        [python, "-c", RUN],
        input=json.dumps(cells),
        cwd=folder,
        env=kept | offline | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def released(folder: Path, lesson: str = LESSON) -> dict[str, Any]:
    """The release's cells by their grade_id."""
    (path,) = (folder / "notebooks" / lesson).glob("*.ipynb")
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells}


def sources(cells: dict[str, Any], *names: str) -> list[str]:
    return ["".join(cells[name]["source"]) for name in names]


WRONG = "def pre_hook(module, input):\n    answer.append(input)"
SENTENCE = "You stored a whole tuple"


def test_in_a_clone_it_installs_that_one_and_then_nothing(python: Path, tmp_path: Path) -> None:
    clone = copy_clone(tmp_path / "my clone")
    cells = released(clone)
    own = clone / "mine"  # only the notebook was copied: the sentences are the clone's
    own.mkdir()
    try:
        first = run(python, sources(cells, *FIRST), own)
        assert first.returncode == 0, first.stdout + first.stderr
        assert first.stdout.splitlines() == [
            f"Installing this course's package, autograder, from {clone} ...",
            "Done. Go on with the next cell.",
        ]
        lesson = [*sources(cells, *FIRST, "given_add"), WRONG, *sources(cells, "pre_hook")]
        again = run(python, lesson, own)
        assert "Installing" not in again.stdout
        assert SENTENCE in again.stdout
        # check() starts this:
        command = [python, "-m", "autograder", "check", str(MASTER.path)]
        done = subprocess.run(command, cwd=own, capture_output=True, text=True, check=False)
        assert done.stdout.endswith("30 of 30 points\n"), done.stderr
    finally:
        subprocess.run(
            [python, "-m", "pip", "uninstall", "-qy", "autograder"], capture_output=True, check=True
        )


@pytest.mark.long
def test_with_an_address_it_fetches_the_project(python: Path, tmp_path: Path) -> None:
    clone = copy_clone(tmp_path / "project")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all of it"]):
        subprocess.run([*git, *words], cwd=clone, check=True)
    address = clone.as_uri()
    cells = released(clone)
    fetch = "".join(cells["given_package"]["source"])
    fetch = fetch.replace('_source = ""', f"_source = {address!r}")
    elsewhere = tmp_path / "content"
    elsewhere.mkdir()
    try:
        done = run(python, [fetch, *sources(cells, "given_setup")], elsewhere)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[0] == f"Fetching the course from {address} ..."
        assert (elsewhere / "pytorch-hooks" / "notebooks").is_dir()
    finally:
        subprocess.run(
            [python, "-m", "pip", "uninstall", "-qy", "autograder"], capture_output=True, check=True
        )


def test_without_either_it_says_in_a_sentence_what_to_do(python: Path, tmp_path: Path) -> None:
    done = run(python, sources(released(ROOT), *FIRST), tmp_path)
    assert done.returncode == 1
    (line,) = done.stdout.strip().splitlines()
    assert line.startswith("This course's package, autograder, is not here.")
    assert "your clone" in line


@pytest.mark.long
def test_what_pip_cannot_do_is_said_in_a_sentence(python: Path, tmp_path: Path) -> None:
    clone = copy_clone(tmp_path / "clone")
    cells = sources(released(clone), *FIRST)
    done = run(python, cells, clone / "notebooks", PIP_NO_BUILD_ISOLATION="1")
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith("pip could not install it. ")
    assert "ERROR: Could not find a version" in last
    assert f"-m pip install --no-deps --editable {clone}" in last


BLOCK = """
import sys
allowed = {allowed!r}
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"a lesson imports {{name}}", name=name)
sys.meta_path.insert(0, Block())
import autograder.lab
from autograder.cli import main
sys.exit(main(["check", {notebook!r}]))
"""


def test_a_lesson_and_check_import_no_more_than_is_installed() -> None:
    from importlib.metadata import requires

    declared = {line.split(";")[0].strip() for line in requires("autograder") or []}
    declared -= {line.split(";")[0].strip() for line in requires("autograder") or [] if ";" in line}
    blocked = sorted(declared - {*NEEDED, "ipython", "ipykernel"})
    assert "nbgrader" in blocked
    code = BLOCK.format(allowed=NEEDED, blocked=blocked, notebook=str(MASTER.path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in NEEDED:
        assert name in declared


# What a build writes into the first cell


def test_the_address_comes_from_pyproject(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    address = "https://example.org/it's.git"
    (tmp_path / "pyproject.toml").write_text(f'[project.urls]\nSource = "{address}"\n')
    course = Course(tmp_path)
    release.write(course, LESSON, release.build(course, LESSON))
    cell = released(tmp_path)["given_package"]
    assert f"_source = {address!r}  #" in "".join(cell["source"])
    assert cell["metadata"]["nbgrader"]["checksum"] == compute_checksum(
        NotebookNode(
            {
                **cell,
                "source": "".join(cell["source"]),
                "metadata": NotebookNode({"nbgrader": NotebookNode(cell["metadata"]["nbgrader"])}),
            }
        )
    )
    (master,) = (tmp_path / "solutions" / LESSON).glob("*.ipynb")
    assert address not in master.read_text()


@pytest.mark.parametrize("lesson", Course(ROOT).lessons())
def test_every_lesson_begins_with_the_same_cell(lesson: str) -> None:
    name, cell = next(iter(released(ROOT, lesson).items()))
    assert name == FIRST[0]
    assert "".join(cell["source"]) == sources(released(ROOT), FIRST[0])[0]
