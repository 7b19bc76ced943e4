"""How far grading is, on the screen and in a log."""

from __future__ import annotations

import logging
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from autograder.marking import one_line

from .results import Result

LOG = "grading.log"
_LOG_BYTES = 5_000_000
_FORMAT = "{n_fmt} of {total_fmt} done, {remaining} left at {rate_noinv_fmt}"


class Progress:
    """How far grading is, with rate and time left; what a grader should know goes into the log.

    On a terminal one line is rewritten; elsewhere there is a new one about twenty times.

    Args:
        log: a file, to which lines are added.
    """

    def __init__(self, log: Path, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty()
        self._began = (0, time.monotonic())  # the number done, and when: for the rate
        self._warm = False
        with log.open("a"):
            pass  # who can't write it hears so now
        self._log = logging.getLogger("autograder.grading")
        self._log.setLevel(logging.INFO)
        self._log.propagate = False
        self._file = RotatingFileHandler(
            log, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", errors="replace", delay=True
        )
        self._file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._log.addHandler(self._file)

    def start(self, total: int) -> None:
        """Say what is about to happen."""
        self.say(f"grading {total} {'submission' if total == 1 else 'submissions'}")

    def say(self, text: str) -> None:
        """Say and log a line."""
        self._say(text)
        self._log.info("%s", text)

    def done(self, done: int, total: int, result: Result, lesson: str) -> None:
        """Say that one more is done."""
        if not result.kept:
            level = logging.INFO if result.status == "graded" else logging.WARNING
            for note in result.notes:
                self._log.log(level, "%s, %s: %s", one_line(result.student), lesson, note)
        if not self._warm and not result.kept:  # the first one that ran waited for its worker
            self._warm = True
            self._began = (done, time.monotonic())
        if self._rewrites or done == total or done % max(1, total // 20) == 0:
            first, since = self._began
            seconds = time.monotonic() - since
            how = tqdm.format_meter(
                done, total, seconds, initial=first, unit="", bar_format=_FORMAT
            )
            self._say(f"{how}: {one_line(result.student)}, {lesson}")

    def waits(self, why: str) -> None:
        """Say that the gradebook can't be reached, and is waited for."""
        self._log.warning("waiting for the gradebook: %s", why)
        self._say(f"waiting for the gradebook: {why}", keep=True)

    def end(self, how: str) -> None:
        """Leave the line free for other output."""
        self._log.info("%s", how)
        self._log.removeHandler(self._file)
        self._file.close()
        if self._rewrites:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _say(self, text: str, *, keep: bool = False) -> None:
        end = "\n" if keep else ""
        self._stream.write(f"\r\x1b[K{text[:78]}{end}" if self._rewrites else f"{text}\n")
        self._stream.flush()
