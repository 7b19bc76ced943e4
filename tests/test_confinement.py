"""The tiers: what is in force is found out, told, and never less than what is said."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
from classroom import make_course
from conftest import need

from autograder.cli import main
from autograder.course import Course
from autograder.desk import doctor, pool, settings
from autograder.engine import (
    EngineError,
    LimitError,
    Limits,
    Worker,
    child,
    frames,
    inner,
    outer,
    tiers,
)
from autograder.engine.folders import Folders

pytestmark = [
    # Landlock, seccomp and namespaces are Linux's; elsewhere test_unforked.py is what there is.
    pytest.mark.skipif(sys.platform != "linux", reason="walls need Linux"),
    pytest.mark.usefixtures("kept_workers"),
]

# In a process of its own, as nothing takes a wall off again.
PROBE = """
import os, sys
from pathlib import Path
from autograder.engine import inner, linux, worker
from autograder.engine.folders import Folders
from autograder.engine.limits import Limits
folders = Folders(Path(sys.argv[1]))
folders.make()
wall = inner.Inner(folders, behind_outer_wall=False)
wall.prepare()
if sys.argv[2] == "no Landlock":
    inner.Ruleset.restrict = lambda *a, **k: linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
if sys.argv[2] == "no filter":
    linux.load_filter = lambda program: None
out = os.dup(1)
possible = wall.close_around(Limits(), out)
os.write(3, repr(sorted(possible)).encode())
"""


def probe(folder: Path, missing: str) -> list[str]:
    import ast
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(folder), missing], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = ast.literal_eval(done.stdout)
    return found


@pytest.mark.parametrize(
    ("missing", "possible"),
    [
        ("nothing", []),
        (
            "no Landlock",
            [
                "making a file out of reach",
                "reading a file out of reach",
                "writing a file out of reach",
            ],
        ),
        ("no filter", ["opening a socket", "running a program", "starting a process"]),
    ],
)
def test_the_self_probe_finds_a_wall_that_is_missing(
    missing: str, possible: list[str], tmp_path: Path
) -> None:
    # Without the filter Landlock keeps signals in, so that one is not found to be possible.
    assert probe(tmp_path, missing) == possible


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({"possible": ["opening a socket"]}, "opening a socket.*nothing was run"),
        ({"failed": "no such thing"}, "can't be confined, and nothing was run: no such thing"),
        (None, "ended before it was confined"),
    ],
)
def test_nothing_is_run_where_a_wall_does_not_hold(frame: object, says: str) -> None:
    read, write = os.pipe()
    if frame is not None:
        frames.send(write, frame)
    os.close(write)
    with Worker(warm=(), tier="C") as worker, pytest.raises(EngineError, match=says):
        worker._see_walls(read)
    os.close(read)


def test_the_tier_is_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    need("bubblewrap")
    tiers.best.cache_clear()
    try:
        assert tiers.best() == "A"
        monkeypatch.setattr("autograder.engine.outer.program", lambda: None)
        tiers.best.cache_clear()
        assert tiers.best() == "B"
        monkeypatch.setattr("landlockpy.abi_version", lambda: 0)
        tiers.best.cache_clear()
        assert tiers.best() == "C"
        monkeypatch.setattr("sys.platform", "darwin")
        tiers.best.cache_clear()
        assert tiers.best() == "D"
    finally:
        tiers.best.cache_clear()


def test_a_bubblewrap_that_does_not_work_is_tier_b(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho setting up uid map: Permission denied >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("autograder.engine.outer.program", lambda: str(broken))
    wall = tiers.walls()[0]
    assert (wall.works, "uid map" in wall.says) == (False, True)
    assert "apparmor_restrict_unprivileged_userns" in wall.remedy


def test_the_doctor_tells_what_is_in_force() -> None:
    need("bubblewrap")
    text, fine = doctor.report()
    assert fine
    assert text.startswith("tier A: contained")
    assert text.count("✓") == 4
    assert "✗" not in text


def test_the_doctor_tells_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.desk.doctor.best", lambda: "C")
    wall = tiers.Wall("Landlock", False, "this kernel has it not, or off", "Linux 5.13 or later")
    monkeypatch.setattr("autograder.desk.doctor.walls", lambda: [wall])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "tier C: not contained" in said
    assert "✗ Landlock" in said
    assert "to get it: Linux 5.13" in said
    assert "needs --unconfined" in said


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    places = ("cli", "desk.checking", "desk.pool", "engine.tiers")
    for module in (f"autograder.{place}" for place in places):
        monkeypatch.setattr(f"{module}.best", lambda: "C")


def test_a_class_is_not_graded_unconfined_unless_asked_for(
    nothing_works: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_course(tmp_path / "course", ["ada"])
    assert main(["grade", "--course", str(course)]) == 2
    said = capsys.readouterr().err
    assert "tier C" in said
    assert "autograder doctor" in said
    assert not (course / "gradebook.db").exists()
    out = tmp_path / "out.json"
    options = ["--unconfined", "--jobs", "1", "--json", str(out)]
    assert main(["grade", "--course", str(course), *options]) == 0
    assert json.loads(out.read_text())["submissions"][0]["tier"] == "C"
    # What is known from then says so, whatever is in force now.
    assert main(["grade", "--course", str(course), *options]) == 0
    again = json.loads(out.read_text())["submissions"][0]
    assert (again["kept"], again["tier"]) == (True, "C")


def test_a_pool_on_another_machine_refuses_too(nothing_works: None) -> None:
    with pytest.raises(EngineError, match="can't be confined here"):
        pool.Setup().worker()
    pool.Setup(unconfined=True).worker().close()


def test_the_example_class_may_run_unconfined(
    nothing_works: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    course = make_course(tmp_path / "course", ["ada"])
    monkeypatch.setattr("autograder.desk.pool.EXAMPLES", course.resolve())
    assert main(["grade", "--course", str(course), "--jobs", "1"]) == 0


def test_ones_own_notebook_is_checked_all_the_same(
    nothing_works: None, capsys: pytest.CaptureFixture[str]
) -> None:
    master = Course(Path(__file__).resolve().parent.parent).master("01_add_and_model")
    assert main(["check", "--json", str(master.path)]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["tier"] == "C"
    assert said.err.count("\n") == 1
    assert "not contained" in said.err


def test_a_course_whose_limit_is_none_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_course(tmp_path / "course", ["ada"])
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("c.AutograderLimits.file = 50\n")
    for command in (["grade"], ["check", str(next(course.glob("submitted/*/*/*.ipynb")))]):
        assert main([*command, "--course", str(course)]) == 2
        says = f"{course / 'nbgrader_config.py'}: there is no limit 'file'"
        assert says in capsys.readouterr().err


def test_a_bubblewrap_beside_python_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bwrap").touch(mode=0o755)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert outer.program() == str(tmp_path / "bwrap")


def test_limits_come_from_the_course_and_the_command_line(tmp_path: Path) -> None:
    assert settings.limits(tmp_path) == Limits()
    text = "c = get_config()\nc.AutograderLimits.cell_seconds = 30\nc.AutograderLimits.files = 50"
    (tmp_path / "nbgrader_config.py").write_text(text)
    found = settings.limits(tmp_path, ["files=60", "disk_bytes=1000000"])
    assert found == Limits(cell_seconds=30, files=60, disk_bytes=1_000_000)


def test_limits_of_a_file_that_is_included_count(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("load_subconfig('more.py')")
    (tmp_path / "more.py").write_text("c = get_config()\nc.AutograderLimits.files = 50")
    assert settings.limits(tmp_path).files == 50


def test_what_help_says_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    said = re.sub(r"\s+", " ", capsys.readouterr().out).partition("Limits are ")[2]
    given = dict(re.findall(r"(\w+) \(([\d.e+]+)\)", said))
    assert Limits.of(given) == Limits()
    assert Limits.of({"memory_bytes": "4e9"}).memory_bytes == 4_000_000_000


@pytest.mark.parametrize("wall", ["landlockpy.Ruleset.restrict", "autograder.engine.linux.prctl"])
def test_a_wall_that_can_not_be_put_up_is_none(wall: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(wall, refused)
    tiers.best.cache_clear()
    try:
        assert tiers.best() == "C"
        (broken,) = [wall for wall in tiers.walls()[1:] if not wall.works]
        assert "not permitted" in broken.says and "container" in broken.remedy
    finally:
        tiers.best.cache_clear()


def test_why_a_wall_failed_is_told_whenever_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(program: bytes) -> None:
        raise OSError(errno.EPERM, "no filter today")

    # In the server, which loads it after it closed all descriptors but one.
    folders, limits = Folders(Path(tempfile.mkdtemp())), Limits()
    folders.make()
    wall = inner.Inner(folders, behind_outer_wall=False)
    wall.prepare()
    monkeypatch.setattr("autograder.engine.linux.load_filter", refused)
    read, write = os.pipe()
    job, given = os.pipe()
    frames.send(given, {"files": {}, "limits": vars(limits)})
    pid = os.fork()
    if pid == 0:
        child.start(job, write, folders, wall, [])
    os.close(write)
    assert frames.receive(read, time.monotonic() + 60) == {"failed": "[Errno 1] no filter today"}
    os.waitpid(pid, 0)
    for fd in (read, job, given):
        os.close(fd)
    folders.remove()


def test_nothing_in_reach_holds_what_was_handed_in() -> None:
    readable = [str(path) for path in outer.readable()]
    assert "/usr/lib" in readable and "/usr" not in readable and "/usr/local" not in readable
    assert outer.exposes(Path("/usr/local/share/nbgrader/exchange")) is None
    assert outer.exposes(Path("/usr/lib/a/course")) == Path("/usr/lib")


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local", "/"])
def test_a_python_of_the_systems_brings_no_more_of_it_in_reach(
    prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("prefix", "base_prefix", "exec_prefix"):
        monkeypatch.setattr(sys, name, prefix)
    for place in ("/usr/local/share/nbgrader/exchange", "/usr/local/etc/jupyter", "/usr/etc"):
        assert outer.exposes(Path(place)) is None
    assert outer.exposes(Path("/home/somebody")) is None
    assert Path("/usr/lib") in outer.readable()


def test_settings_of_jupyter_are_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("lib", "share", "etc/fonts", "etc/jupyter", "elsewhere"):
        (tmp_path / "python" / folder).mkdir(parents=True)
    (tmp_path / "python" / "pyvenv.cfg").touch()
    (tmp_path / "home").mkdir()
    (tmp_path / "python" / "link").symlink_to(tmp_path / "home")
    (tmp_path / "python" / "settings").symlink_to("etc/jupyter")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "python"))
    inside = [path for path in outer.interpreter() if path.is_relative_to(tmp_path)]
    names = [path.relative_to(tmp_path / "python").as_posix() for path in inside]
    assert names == ["elsewhere", "etc/fonts", "lib", "pyvenv.cfg", "share"]


def test_a_course_among_the_programs_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_course(tmp_path / "course", ["ada"])
    monkeypatch.setattr("autograder.desk.pool.exposes", lambda root: Path("/usr/lib"))
    assert main(["grade", "--course", str(course)]) == 2
    assert "notebooks may read /usr/lib" in capsys.readouterr().err
    assert not (course / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("cell_second=3", "limits are cell_seconds, "),
        ("files=many", "'many'"),
        ("files=0", "above 0"),
        ("files=0.5", "a whole number above 0"),
        ("files", "above 0"),
        ("cell_seconds=nan", "above 0"),
    ],
)
def test_a_limit_that_is_none_is_told(
    given: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, value = given.partition("=")
    with pytest.raises(LimitError):
        Limits.of({name: value})
    notebook = tmp_path / "n.ipynb"
    shutil.copy(Course(Path(__file__).parent.parent).master("01_add_and_model").path, notebook)
    assert main(["check", "--limit", given, str(notebook)]) == 2
    assert says in (said := capsys.readouterr().err) and "--limit: " in said
