"""What a learning platform hands out is taken in whole, or refused by the name of an entry."""

from __future__ import annotations

import datetime
import os
import random
import shutil
import stat
import struct
import subprocess
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from classroom import LESSON, ROOT

from autograder.cli import main
from autograder.course import Course
from autograder.desk import intake
from autograder.desk.intake import Caps, IntakeError, take_in
from autograder.desk.submissions import find, submissions_of

GOOD = {"ada/01/work.ipynb": b"{}", "ada/01/data/x.csv": b"1,2", "bo/01/work.ipynb": b"[]"}
LESSONS = ["01"]
Make = Callable[[Path, dict[str, bytes]], Path]


def make_zip(folder: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "class.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return folder / "class.zip"


def make_folder(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "class"


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def refused(source: Path, *says: str, caps: Caps | None = None) -> None:
    """See that it is refused for that reason, and that nothing was written anywhere."""
    course = source.parent / "course"
    with pytest.raises(IntakeError) as error:
        take_in(source, course / "submitted", LESSONS, caps)
    assert str(error.value).startswith(str(source))
    for words in says:
        assert words in str(error.value)
    assert list(course.iterdir()) == []


@pytest.mark.parametrize("make", [make_zip, make_folder])
def test_a_class_is_taken_in(make: Make, tmp_path: Path) -> None:
    litter = {
        "__MACOSX/ada/01/._work.ipynb": b"x",
        "ada/01/.DS_Store": b"x",
        "ada/01/._work.ipynb": b"x",
        "ada/01/.ipynb_checkpoints/work-checkpoint.ipynb": b"x",
        "ada/01/.autograder-progress.json": b"x",
        "ada/.autograder-progress.json.77": b"x",
    }
    source = make(tmp_path, GOOD | litter)
    assert take_in(source, tmp_path / "course/submitted", LESSONS) == ["ada/01", "bo/01"]
    assert content(tmp_path / "course") == {f"submitted/{n}": data for n, data in GOOD.items()}
    # Once more, with somebody new: what is there stays as it is, and nothing is mixed with it.
    more = make(tmp_path, {"cy/01/work.ipynb": b"new", "ada/01/work.ipynb": b"changed"})
    with pytest.raises(IntakeError, match="ada/01 is there already"):
        take_in(more, tmp_path / "course/submitted", LESSONS)
    assert content(tmp_path / "course") == {f"submitted/{n}": data for n, data in GOOD.items()}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("/etc/01/work.ipynb", "absolute"),
        ("C:/01/work.ipynb", "absolute"),
        ("ada\\..\\..\\work.ipynb", "another system"),
        ("../01/work.ipynb", "leads elsewhere"),
        ("ada/01/../../../../work.ipynb", "leads elsewhere"),
        ("ada//work.ipynb", "leads elsewhere"),
        ("ada/./work.ipynb", "leads elsewhere"),
        ("ada/01/nul.ipynb", "not every system"),
        ("ada/01/work.ipynb ", "not every system"),
        ("ada/01/work.ipynb:stream", "not every system"),
        ("ada/01/\x1b[2Jwork.ipynb", "not every system"),
        (f"ada/01/{'x' * 201}", "too long"),
        ("a/" * 20 + "work.ipynb", "too deep"),
        (".ada/01/work.ipynb", "begins with '.'"),
        ("=cmd/01/work.ipynb", "begins with '='"),
        ("work.ipynb", "not in its place"),
        ("ada/work.ipynb", "not in its place"),
    ],
)
def test_names_that_lead_elsewhere(name: str, says: str, tmp_path: Path) -> None:
    refused(make_zip(tmp_path, GOOD | {name: b"x"}), "the entry", says)


@pytest.mark.parametrize("make", [make_zip, make_folder])
@pytest.mark.parametrize("name", ["[bo]", "che*", "d?ra", "<b>x", "e|i", '"fay"', "g]us"])
def test_students_whose_names_are_patterns(make: Make, name: str, tmp_path: Path) -> None:
    refused(make(tmp_path, GOOD | {f"{name}/01/work.ipynb": b"x"}), f"the entry '{name}", "in it")


@pytest.mark.parametrize("name", ["work (1).ipynb", "Ada_[123].ipynb", "x[1]/why?.csv"])
def test_files_may_have_names_that_are_patterns(name: str, tmp_path: Path) -> None:
    files = GOOD | {f"ada/01/{name}": b"x"}
    take_in(make_zip(tmp_path, files), tmp_path / "course/submitted", LESSONS)
    assert content(tmp_path / "course/submitted") == files


def zip_of_times(folder: Path, files: dict[str, tuple[bytes, datetime.datetime]]) -> Path:
    with zipfile.ZipFile(folder / "class.zip", "w") as archive:
        for name, (data, time) in files.items():
            archive.writestr(zipfile.ZipInfo(name, time.timetuple()[:6]), data)
    return folder / "class.zip"


def folder_of_times(folder: Path, files: dict[str, tuple[bytes, datetime.datetime]]) -> Path:
    made = make_folder(folder, {name: data for name, (data, _) in files.items()})
    for name, (_, time) in files.items():
        os.utime(made / name, (time.timestamp(), time.timestamp()))
    return made


@pytest.mark.parametrize("make", [zip_of_times, folder_of_times])
@pytest.mark.parametrize("newer", ["work.ipynb", "work (1).ipynb", "a.ipynb", "Ada_[123].ipynb"])
def test_of_several_notebooks_the_newest_is_the_one_that_is_graded(
    make: Callable[..., Path], newer: str, tmp_path: Path
) -> None:
    work = next((ROOT / "notebooks" / LESSON).glob("*.ipynb")).read_bytes()
    january, may = datetime.datetime(2026, 1, 5, 12), datetime.datetime(2026, 5, 5, 12)
    files = {f"ada/{LESSON}/{newer}": (work, may)}
    for older in {"work.ipynb", "older.ipynb", "z.ipynb"} - {newer}:
        files[f"ada/{LESSON}/{older}"] = (work, january)
    # Written last is not newest.
    submitted = tmp_path / "course" / "submitted"
    take_in(make(tmp_path, files), submitted, [LESSON])
    masters = Course(ROOT).masters()
    (master,) = [master for master in masters if master.lesson == LESSON]
    (submission,) = submissions_of(submitted, LESSON)
    found = find(submission, master, masters)
    assert found.notebook is not None
    assert found.notebook.name == newer
    assert found.notebook.stat().st_mtime == may.timestamp()


@pytest.mark.parametrize("spoilt", [0, 0xFFFFFFFF, 0x0000_BF7D])  # month 0 or 15, hour 31
def test_a_time_that_is_none_is_the_oldest(spoilt: int, tmp_path: Path) -> None:
    long_ago = datetime.datetime(1980, 1, 1)
    source = zip_of_times(
        tmp_path, {"ada/01/none.ipynb": (b"{}", long_ago), "ada/01/old.ipynb": (b"{}", long_ago)}
    )
    data = bytearray(source.read_bytes())
    place = data.index(b"PK\1\2") + 12
    data[place : place + 4] = spoilt.to_bytes(4, "little")
    source.write_bytes(data)
    take_in(source, tmp_path / "course/submitted", LESSONS)
    times = [path.stat().st_mtime for path in sorted(tmp_path.glob("course/*/ada/01/*"))]
    assert times == [0, long_ago.timestamp()]


REPOSITORY = {
    "HEAD": b"ref: refs/heads/main\n",
    "config": b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
    b"\tfsmonitor = touch ran; false\n",
    "objects/x": b"",
    "refs/x": b"",
}


@pytest.mark.parametrize("make", [make_zip, make_folder])
@pytest.mark.parametrize("place", ["ada/01/.git", "ada/.git", ".git", "ada/01", "ada/01/data"])
def test_nothing_that_git_takes_for_a_repository(make: Make, place: str, tmp_path: Path) -> None:
    """`git status` runs what a repository's settings name, and one needs no folder `.git`."""
    files = {f"{place}/{name}": data for name, data in REPOSITORY.items()}
    if shutil.which("git") and make is make_folder:
        folder = make_folder(tmp_path / "seen", files) / place.removesuffix(".git")
        subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)
        assert list(folder.rglob("ran"))  # so it is one
    refused(make(tmp_path, GOOD | files), f"the entry '{place}")


@pytest.mark.parametrize("name", [".envrc", ".vscode/settings.json", ".ada.ipynb", ".x/.DS"])
def test_hidden_files(name: str, tmp_path: Path) -> None:
    for place in ("ada/01", "ada/01/data"):
        hidden = {f"{place}/{name}": b"x"}
        refused(make_zip(tmp_path, GOOD | hidden), f"the entry '{place}/{name}' is hidden")


@pytest.mark.parametrize(
    "name",
    [
        "ada/01/WORK.ipynb",
        "ADA/01/other.ipynb",
        "ada/01/data",  # a file where a folder is
        "ada/01/work.ipynb/x",  # a folder where a file is
    ],
)
def test_names_that_collide(name: str, tmp_path: Path) -> None:
    refused(make_zip(tmp_path, GOOD | {name: b"x"}), f"the entry '{name}' collides with 'ada")


def test_the_same_letters_in_another_form_collide(tmp_path: Path) -> None:
    files = {"jos\u00e9/01/a.ipynb": b"x", "jose\u0301/01/b.ipynb": b"x"}
    refused(make_zip(tmp_path, files), "collides with")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice(tmp_path: Path) -> None:
    source = make_zip(tmp_path, GOOD)
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr("ada/01/work.ipynb", b"another")
    refused(source, "the entry 'ada/01/work.ipynb' collides")


def test_links_in_a_zip(tmp_path: Path) -> None:
    source = make_zip(tmp_path, GOOD)
    with zipfile.ZipFile(source, "a") as archive:
        info = zipfile.ZipInfo("ada/01/link.ipynb")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    refused(source, "the entry 'ada/01/link.ipynb' is a link")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="walls need Linux")
def test_links_and_pipes_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    source = make_folder(tmp_path, GOOD)
    for name in ("link", "bo/02"):
        (source / name).symlink_to(tmp_path / "outside")
        refused(source, f"the entry '{name}' is a link")
        (source / name).unlink()
    os.mkfifo(source / "bo/01/pipe")
    refused(source, "the entry 'bo/01/pipe' is a special file")


def test_bombs(tmp_path: Path) -> None:
    caps = Caps(files=20, file_bytes=1_000_000, all_bytes=1_500_000)
    zeros = {"cy/01/zeros": bytes(1_000_001)}
    for make in (make_zip, make_folder):
        refused(make(tmp_path, GOOD | zeros), "the entry 'cy/01/zeros' is too large", caps=caps)
    several = {f"cy/01/zeros{n}": bytes(900_000) for n in range(2)}
    refused(make_zip(tmp_path, GOOD | several), "'cy/01/zeros1' is too large", caps=caps)
    many = {f"cy/01/{n}": b"" for n in range(20)}
    refused(make_zip(tmp_path, GOOD | many), "is one too many", caps=caps)


@pytest.mark.parametrize("make", [make_zip, make_folder])
@pytest.mark.parametrize("kind", ["__MACOSX/._{}", "ada/01/.DS_Store/{}", "ada/01/._{}"])
def test_litter_counts_too(make: Make, kind: str, tmp_path: Path) -> None:
    litter = {kind.format(number): b"" for number in range(70)}
    refused(make(tmp_path, GOOD | litter), "more than 60 entries", caps=Caps(files=20))


def test_a_list_without_end_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """By what it takes: zipfile would want a kilobyte and thirty microseconds for each entry."""
    source = tmp_path / "class.zip"
    name = b"__MACOSX/x"
    entry = struct.pack("<4s12x4x2I3H2xHII", b"PK\1\2", 0, 0, len(name), 0, 0, 0, 0, 0) + name
    # Whatever number of entries the end of it says: zipfile reads as many as there are.
    for says in (300_000 % 2**16, 1, 0):
        end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, says, says, 300_000 * len(entry), 0, 0)
        source.write_bytes(entry * 300_000 + end)
        tracemalloc.start()
        refused(source, "more than 60,000 entries", "some students at a time")
        assert tracemalloc.get_traced_memory()[1] < 3 * source.stat().st_size
        tracemalloc.stop()


def test_a_file_may_hold_as_many_lists_as_it_likes(tmp_path: Path) -> None:
    files = GOOD | {"ada/01/model.pt": b"PK\1\2" * 1_000}  # an archive inside
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    take_in(tmp_path / "class.zip", tmp_path / "course/submitted", LESSONS, Caps(files=20))
    assert content(tmp_path / "course/submitted") == files


def test_a_bomb_that_tells_another_size(tmp_path: Path) -> None:
    source = make_zip(tmp_path, {"ada/01/work.ipynb": bytes(2_000_000)})
    data = source.read_bytes()
    says, tells = (2_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")
    assert data.count(says) == 2  # before the file, and in the list at the end
    source.write_bytes(data.replace(says, tells))
    # zipfile stops at the size that was told, and finds another sum there.
    refused(source, "work.ipynb", caps=Caps(file_bytes=1_000_000))


def test_an_encrypted_entry(tmp_path: Path) -> None:
    source = make_zip(tmp_path, {"ada/01/work.ipynb": b"x"})
    data = bytearray(source.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    source.write_bytes(data)
    refused(source, "the entry 'ada/01/work.ipynb' is encrypted")


def test_a_name_with_a_zero_byte(tmp_path: Path) -> None:
    source = make_zip(tmp_path, {"ada/01/work.ipynbXevil": b"x"})
    source.write_bytes(source.read_bytes().replace(b"ipynbXevil", b"ipynb\0evil"))
    refused(source, "the entry 'ada/01/work.ipynb�evil'", "not every system")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_that_is_unpacked_a_chunk_at_a_time(method: int, tmp_path: Path) -> None:
    source = tmp_path / "class.zip"
    with zipfile.ZipFile(source, "w", method) as archive:
        archive.writestr("ada/01/work.ipynb", bytes(2_000_000))
    assert source.stat().st_size < 2_000
    refused(
        source, "the entry 'ada/01/work.ipynb' is packed in an unusual", caps=Caps(file_bytes=1_000)
    )


def test_any_spoilt_zip_is_taken_or_refused(tmp_path: Path) -> None:
    good = make_zip(tmp_path, GOOD).read_bytes()
    dice = random.Random(6)
    refusals = 0
    for number in range(500):
        data = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.choice([0, 1, 8, 12, 0x80, 0xFF])
        source = tmp_path / "class.zip"
        source.write_bytes(data)
        try:
            take_in(source, tmp_path / f"course{number}" / "submitted", LESSONS)
        except IntakeError as error:
            assert str(error).isprintable()
            refusals += 1
    assert refusals > 200


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_half_a_file(keep: float, tmp_path: Path) -> None:
    source = make_zip(tmp_path, {"ada/01/work.ipynb": os.urandom(50_000)})
    source.write_bytes(source.read_bytes()[: int(50_000 * keep)])
    refused(source)


@pytest.mark.parametrize("place", ["course/submitted", "course", ".", "link"])
def test_the_course_itself(place: str, tmp_path: Path) -> None:
    make_folder(tmp_path, GOOD).rename(tmp_path / "course")
    submitted = tmp_path / "course" / "submitted"
    submitted.mkdir()
    (tmp_path / "link").symlink_to("course")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(IntakeError, match="name the zip file or folder that") as error:
        take_in(tmp_path / place, submitted, LESSONS)
    assert ".taking-in" not in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_something_else(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_text("none")
    refused(tmp_path / "class.zip", "neither a zip file nor a folder; unpack")
    refused(tmp_path / "missing.zip", "there is no such file or folder")
    refused(make_folder(tmp_path, {"__MACOSX/x": b""}), "there are no files in it")


def test_what_was_written_goes_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(intake, "_copy", full)
    with pytest.raises(OSError, match="No space"):
        take_in(make_zip(tmp_path, GOOD), tmp_path / "course/submitted", LESSONS)
    assert list((tmp_path / "course").iterdir()) == []


def test_what_is_no_lesson_is_refused(tmp_path: Path) -> None:
    around = {f"class/{name}": data for name, data in GOOD.items()}
    refused(make_zip(tmp_path, around), "'ada' is no lesson", "Is there a folder around it all?")


def test_a_file_where_a_students_folder_should_be(tmp_path: Path) -> None:
    submitted = tmp_path / "course/submitted"
    submitted.mkdir(parents=True)
    (submitted / "bo").write_text("a note")
    with pytest.raises(IntakeError, match="bo/01 is there already"):
        take_in(make_zip(tmp_path, GOOD), submitted, LESSONS)
    assert content(submitted) == {"bo": b"a note"}


def test_what_was_moved_is_moved_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = tmp_path / "course/submitted"
    rename = Path.rename

    def stops(path: Path, target: Path) -> Path:
        if target == submitted / "bo/01":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stops)
    with pytest.raises(OSError, match="Input/output"):
        take_in(make_zip(tmp_path, GOOD), submitted, LESSONS)
    assert content(submitted) == {}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = tmp_path / "course"
    course.mkdir()
    good = {name.replace("/01/", f"/{LESSON}/"): data for name, data in GOOD.items()}
    assert main(["take", str(make_zip(tmp_path, good)), "--course", str(course)]) == 0
    assert content(course / "submitted") == good
    assert f"ada/{LESSON}" in capsys.readouterr().out
    assert main(["take", str(make_zip(tmp_path, GOOD)), "--course", f"{course}s"]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    bad = make_zip(tmp_path, {"../01/x.ipynb": b""})
    assert main(["take", str(bad), "--course", str(course)]) == 2
    assert "the entry '../01/x.ipynb' leads elsewhere" in capsys.readouterr().err
