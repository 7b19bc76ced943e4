"""Between reading submissions and running them: pools that come too late, and rates."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from classroom import CLASS, LESSON, ROOT

from autograder.course import Course
from autograder.desk import feed, progress
from autograder.desk.feed import Feed, Look, Runner
from autograder.desk.kept import Shelf
from autograder.desk.pool import LocalPool, Setup
from autograder.desk.progress import Progress
from autograder.desk.results import Result
from autograder.desk.submissions import submissions_of
from autograder.engine import Limits


def test_a_pool_that_is_made_after_ctrl_c_is_closed_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a Dask cluster that does not answer for a minute."""
    monkeypatch.setattr(feed, "_READER_SECONDS", 0.1)
    asked, answers, closed = threading.Event(), threading.Event(), threading.Event()

    class Late(LocalPool):
        def __init__(self) -> None:
            asked.set()
            answers.wait(60)

        def close(self) -> None:
            closed.set()

    master = Course(ROOT).master(LESSON)
    work = [(master, one) for one in submissions_of(CLASS, LESSON) if one.student == "ada"]
    shelf = Shelf(tmp_path, Setup(), tmp_path / "none.py")
    look = Look(tmp_path, [master], shelf, fresh=True)
    with pytest.raises(KeyboardInterrupt), Feed(work, look, Runner(Late, Limits())):
        assert asked.wait(60)
        raise KeyboardInterrupt
    assert not closed.is_set(), "it is still being made"
    answers.set()
    assert closed.wait(60)


def test_the_rate_leaves_out_what_warming_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    said = io.StringIO()
    told = Progress(tmp_path / "grading.log", said)
    told.start(21)
    for number in range(1, 22):
        now = 100.0 + number
        told.done(number, 21, Result("ada", "graded", (), (), None), LESSON)
    told.end("done")
    assert "11 of 21 done, 00:10 left at  1.00/s" in said.getvalue()
