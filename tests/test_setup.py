"""The set-up holds together: pins, Make's commands, CI's rule, linters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(*command: str | Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Runs a command in the repository and returns what it printed, both streams in `stdout`."""
    options: dict = {"cwd": ROOT, "text": True, "stdout": subprocess.PIPE} | kwargs
    return subprocess.run(list(map(str, command)), stderr=subprocess.STDOUT, check=False, **options)


# Pins


def pins() -> dict[str, str]:
    """constraints.txt as {canonical name: version}; ValueError for any other line."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line := line.partition("#")[0].strip():
            name, version = line.split("==")
            assert canonicalize_name(name) not in found, f"{name} is pinned twice"
            found[canonicalize_name(name)] = version
    return found


def test_everything_that_is_installed_is_pinned_and_has_that_version() -> None:
    wanted = [Requirement("autograder[dev]")]
    versions = {}
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if (name, *sorted(extras)) in versions:
            continue
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            pytest.fail(f"{name} is required and not installed")
        versions[(name, *sorted(extras))] = installed.version.partition("+")[0]
        for line in installed.requires or []:
            needed = Requirement(line)
            if any(needed.marker is None or needed.marker.evaluate({"extra": e}) for e in extras):
                wanted.append(needed)
    del versions[("autograder", "dev")]
    pinned = pins()
    wrong = {name: v for (name, *_), v in versions.items() if pinned.get(name) != v}
    assert len(versions) > 100
    assert not wrong, f"constraints.txt says otherwise: {wrong}"


def test_each_dependency_of_pyproject_is_pinned_and_says_what_it_is_for() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for wanted in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]:
        assert canonicalize_name(Requirement(wanted).name) in pins()
        said = re.compile(rf' +"{re.escape(wanted)}", +# \S')
        assert any(map(said.match, lines)), f"{wanted}: what for?"


def test_conda_and_binder_take_the_same_pins() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["channels"] == ["conda-forge"]
    python, pip, by_pip = environment["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert by_pip == {"pip": ["-c constraints.txt", "-e ."]}


# Make and CI


def test_make_tells_what_it_can_do() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.*)", makefile, re.MULTILINE)[0].split()
    told = re.findall(r"make ([\w-]+)", run("make").stdout)
    assert set(targets) - {"help", "venv"} <= set(told) <= set(targets)


@pytest.mark.parametrize("submitted", [True, False])
def test_make_grade_takes_the_example_class_where_nothing_is_submitted(
    tmp_path: Path, submitted: bool
) -> None:
    called = make_with_fake_venv(tmp_path)
    if submitted:
        (tmp_path / "submitted").mkdir()
    assert run("make", "grade", cwd=tmp_path).returncode == 0
    assert called.read_text() == (
        "autograder grade\n" if submitted else "autograder grade --course examples/class\n"
    )


def make_with_fake_venv(folder: Path) -> Path:
    """Lays the Makefile and a ready .venv whose programs only write down how they were called."""
    for name in ("pyproject.toml", "constraints.txt", "Makefile"):
        shutil.copy(ROOT / name, folder)
    bin_ = folder / ".venv" / "bin"
    bin_.mkdir(parents=True)
    called = folder / "called"
    called.touch()
    for program in ("autograder", "python", "jupyter"):
        (bin_ / program).write_text(f'#!/bin/sh\necho "{program} $*" >> "{called}"\n')
        (bin_ / program).chmod(0o755)
    (folder / ".venv" / "ready").touch()
    return called


def test_make_sets_up_once_and_again_when_the_pins_change(tmp_path: Path) -> None:
    called = make_with_fake_venv(tmp_path)
    run("make", "venv", cwd=tmp_path)
    assert called.read_text() == ""
    later = time.time() + 10
    os.utime(tmp_path / "constraints.txt", (later, later))
    run("make", "venv", "TORCH_INDEX=https://example.org/cpu", cwd=tmp_path)
    torch, rest = [line for line in called.read_text().splitlines() if " install " in line]
    assert torch.endswith("-c constraints.txt --no-deps --index-url https://example.org/cpu torch")
    assert rest.endswith("-c constraints.txt -e .[dev]")


def test_ci_runs_commands_that_the_readme_gives() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^make .*$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert commands == ["make deps", "make test"]
    assert all(command in readme for command in commands)


def test_a_group_of_tests_stays_together(tmp_path: Path) -> None:
    """Otherwise each worker starts a JupyterLab and a browser of its own (pytest 9.2.0)."""
    (tmp_path / "test_some.py").write_text(
        "import os, pathlib, pytest\n"
        "@pytest.mark.xdist_group('one')\n"
        "@pytest.mark.parametrize('number', range(8))\n"
        "def test_it(number):\n"
        "    pathlib.Path(os.environ['PYTEST_XDIST_WORKER']).touch()\n"
    )
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"]
    assert run(*pytest_, "-p", "no:cacheprovider", cwd=tmp_path).returncode == 0
    assert len(list(tmp_path.glob("gw*"))) == 1


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skip_fails_ci_unless_it_is_listed(tmp_path: Path, workers: str) -> None:
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(
        "import pytest\n"
        "def test_passes(): pass\n"
        "@pytest.mark.xfail\ndef test_known(): assert False\n"
        "def test_skipped(): pytest.skip('the moon is full')\n"
    )
    (tmp_path / "tests" / "test_whole.py").write_text(
        "import pytest\npytest.importorskip('no_such_module')\n"
    )
    moon, module = "the moon is full | it wanes", "could not import 'no_such_module' | no need"

    def outcome(listed: str, ci: str = "true") -> subprocess.CompletedProcess[str]:
        (tmp_path / ".ci" / "skips.txt").write_text(f"# a comment\n{listed}\n")
        pytest_ = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider"]
        return run(*pytest_, cwd=tmp_path, env=os.environ | {"CI": ci})

    assert outcome(f"{moon}\n{module}").returncode == 0
    told = outcome(module)
    assert told.returncode == 1
    assert "test_some.py::test_skipped: Skipped: the moon is full" in told.stdout
    if workers != "0":
        return  # the rest is the same, and starting them takes seconds
    assert outcome("", ci="").returncode == 0
    told = outcome(moon)
    assert told.returncode == 1
    assert "no_such_module" in told.stdout
    assert outcome("the moon is full").returncode != 0, "a listed skip needs a reason"


def test_only_what_grading_makes_is_left_out_of_git() -> None:
    def ignored(path: str) -> bool:
        return run("git", "check-ignore", "-q", "--no-index", path).returncode == 0

    products = ["gradebook.db", "gradebook.db.2026", "grades.csv", "autograded/a", "feedback/a"]
    assert all(ignored(path) for path in [".venv/x", "submitted/ada/01_add_and_model/a.ipynb"])
    assert all(ignored(path) and ignored(f"examples/class/{path}") for path in products)
    kept = ["notebooks/a", "solutions/a", "examples/class/submitted/ada/01_add_and_model/a.ipynb"]
    assert not any(ignored(path) for path in kept)


# Linters


@pytest.mark.parametrize(
    "linter", [("ruff", "check", "."), ("mypy",), ("lint-imports",)], ids=lambda words: words[0]
)
def test_the_linters_have_nothing_to_say(linter: tuple[str, ...]) -> None:
    program, *arguments = linter
    verdict = run(Path(sys.executable).parent / program, *arguments)
    assert verdict.returncode == 0, verdict.stdout
