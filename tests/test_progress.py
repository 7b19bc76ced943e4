"""What is remembered of a learner's checks: a help, so nothing that is wrong with it may hurt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import progress
from autograder.progress import FILE, Progress, in_folder, read, remember

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "lesson.ipynb"
    path.write_text("{}")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_passed_once_stays_passed(notebook: Path) -> None:
    assert read(notebook) == Progress(notebook)
    first = remember(notebook, "01", {"a": True, "b": False})
    assert (first.lesson, first.exercises, first.passed) == ("01", ("a", "b"), ("a",))
    assert read(notebook) == first
    second = remember(notebook, "01", {"a": False, "b": True})
    assert second.passed == ("a", "b")
    assert second.finished
    assert not first.finished
    assert not Progress(notebook).finished
    assert read(notebook) == second
    assert second.checked >= first.checked > ""
    assert names(notebook.parent) == [FILE, notebook.name]  # nothing half-written is left


def test_what_a_lesson_no_longer_has_is_forgotten(notebook: Path) -> None:
    remember(notebook, "01", {"a": True, "b": True})
    assert remember(notebook, "01", {"b": False, "c": False}).passed == ("b",)


def test_a_folder_with_several_notebooks(
    tmp_path: Path, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_folder(tmp_path) == []
    other = tmp_path / "other.ipynb"
    other.write_text("{}")
    remember(notebook, "01", {"a": True})
    content = json.loads((tmp_path / FILE).read_text())
    content["notebooks"][notebook.name]["checked"] = "2001-01-01T00:00:00Z"
    content["notebooks"]["gone.ipynb"] = content["notebooks"][notebook.name]
    (tmp_path / FILE).write_text(json.dumps(content))
    remember(other, "02", {"x": False})
    assert [p.notebook for p in in_folder(tmp_path)] == [other, notebook]
    assert read(notebook).passed == ("a",)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"version": 1}',
        b'{"version": 1, "notebooks": []}',
        b'{"version": "1", "notebooks": {"lesson.ipynb": {"passed": ["a"]}}}',
        b'{"version": 1, "notebooks": {"lesson.ipynb": 3, "../x.ipynb": {}, "\\u0000": {}}}',
        b'{"version": 1, "notebooks": {"lesson.ipynb": {"passed": "abc", "exercises": {},'
        b' "checked": 7, "lesson": null}}}',
        b'{"version": 1, "notebooks": {"lesson.ipynb": {"passed": [1, null, "", "\\u001b"]}}}',
        b"[" * 100_000,
        b" " * (progress._MAX_BYTES + 1),
    ],
)
def test_a_damaged_file_counts_as_nothing_and_is_mended(notebook: Path, damage: bytes) -> None:
    path = notebook.with_name(FILE)
    path.write_bytes(damage)
    assert read(notebook) == Progress(notebook)
    assert in_folder(notebook.parent) == []
    remember(notebook, "01", {"a": True})
    assert read(notebook).passed == ("a",)


def test_a_newer_versions_file_is_left_alone(notebook: Path) -> None:
    path = notebook.with_name(FILE)
    text = '{"version": 2, "notebooks": {"lesson.ipynb": {"passed": ["b"]}}}'
    path.write_text(text)
    assert read(notebook) == Progress(notebook)
    assert remember(notebook, "01", {"a": True}).passed == ("a",)
    assert path.read_text() == text


def test_a_place_that_cannot_be_written_stops_nobody(notebook: Path) -> None:
    notebook.with_name(FILE).mkdir()
    assert remember(notebook, "01", {"a": True}).passed == ("a",)
    assert remember(notebook.parent / "no" / "x.ipynb", "01", {"a": True}).passed == ("a",)
    assert read(notebook) == Progress(notebook)
    assert names(notebook.parent) == [FILE, notebook.name]


def test_it_is_written_whole_or_not_at_all(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = remember(notebook, "01", {"a": True, "b": False})

    def full(self: Path, text: str, *_: object) -> int:
        with self.open("w") as file:
            file.write(text[:20])
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", full)
    remember(notebook, "01", {"a": True, "b": True})
    assert read(notebook) == before
    assert names(notebook.parent) == [FILE, notebook.name]


def test_only_so_many_notebooks_are_kept(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_MAX_NOTEBOOKS", 3)
    for number in range(5):
        path = notebook.with_name(f"{number}.ipynb")
        path.write_text("{}")
        remember(path, "01", {"a": True})
    kept = in_folder(notebook.parent)
    assert len(kept) == 3
    assert read(notebook.with_name("4.ipynb")) in kept


def test_reading_it_imports_nothing_large() -> None:
    large = "{'torch', 'numpy', 'IPython'}"
    code = f"import sys, autograder.progress; print(sorted({large} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"


def test_git_does_not_see_it() -> None:
    done = subprocess.run(
        ["git", "check-ignore", "-q", f"notebooks/01_add_and_model/{FILE}"], cwd=ROOT, check=False
    )
    assert done.returncode == 0
