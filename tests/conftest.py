"""What all tests share: tools that may be missing, and CI's rule that no test is skipped unseen.

A test that needs one of `TOOLS` says so, and is skipped where it is missing:

    @pytest.mark.needs("bubblewrap")

Where the variable CI is set, a skip whose words `.ci/skips.txt` does not list fails the run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Lesson, Server
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / ".ci" / "skips.txt"
# Tool: the names that its program goes by.
TOOLS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "postgresql": ("postgres",),
    "bubblewrap": ("bwrap",),
}
FIGURES = "figures"
"""A test's property (`record_property`) that is said at the end."""
_UNLISTED = pytest.StashKey[set[str]]()


def program(tool: str) -> str | None:
    """The path of a tool's program, or None where it isn't installed."""
    # Debian keeps the programs of PostgreSQL's server out of PATH.
    servers = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")))
    path = os.pathsep.join([os.environ.get("PATH", ""), *servers])
    return next(filter(None, (shutil.which(name, path=path) for name in TOOLS[tool])), None)


def need(tool: str) -> str:
    """The path of a tool's program; skips the test where it isn't installed."""
    found = program(tool)
    if found is None:
        pytest.skip(f"needs {tool}: make deps")
    return found


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser; skips the test where there is none."""
    return need("chromium")


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example class, graded. It is made once: don't write to it."""
    from classroom import graded_class  # nbgrader is slow to import

    return graded_class(tmp_path_factory)


@pytest.fixture
def kept_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that this process runs share warm workers."""
    import warm_workers

    from autograder import engine
    from autograder.desk import checking, pool

    for place in (engine, checking, pool):
        monkeypatch.setattr(place, "start_worker", warm_workers.start)


# The browser's fixtures (see browser.py).


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "jupyterlab" in getattr(item, "fixturenames", ()):
            # One worker of pytest-xdist runs them all, with one JupyterLab.
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def jupyterlab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab on a copy of the course, started by `autograder lab`."""
    from browser import running

    with running(tmp_path_factory.mktemp("jupyterlab")) as server:
        yield server


@pytest.fixture(scope="module")  # beside Playwright, nothing else can use asyncio
def browser(chromium: str) -> Iterator[Browser]:
    from browser import browsing

    with browsing(chromium) as running:
        yield running


@pytest.fixture
def window(browser: Browser, jupyterlab: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty window; its screenshot at the end of the test, and no kernel left."""
    from browser import PATIENCE

    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    yield page
    page.screenshot(path=jupyterlab.pictures / f"{_plain(request.node.name)}.png")
    page.close()
    jupyterlab.stop_kernels()


@pytest.fixture
def lesson(
    window: Page, jupyterlab: Server, request: pytest.FixtureRequest
) -> Callable[[str], Lesson]:
    """A function that opens a copy of a lesson, made for this test, and returns the Lesson."""
    from browser import ROOT, Lesson

    def open_copy(name: str) -> Lesson:
        test = _plain(request.node.name)
        copy = jupyterlab.folder / "notebooks" / test
        hidden = shutil.ignore_patterns(".*")
        shutil.copytree(ROOT / "notebooks" / name, copy, ignore=hidden, dirs_exist_ok=True)
        (path,) = copy.glob("*.ipynb")
        window.goto(jupyterlab.address(f"notebooks/{test}/{path.name}", test))
        return Lesson(window, path)

    return open_copy


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for tool in mark.args:
            need(tool)


# CI's rule. Under pytest-xdist the workers' reports arrive at the controller, which decides.


def allowed_skips() -> list[str]:
    """The words of each skip that CI lets pass; ValueError for a line that gives no reason."""
    words = []
    for line in ALLOWED.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            skip, _, why = (part.strip() for part in line.partition("|"))
            if not skip or not why:
                raise ValueError(f"{ALLOWED.name}: no reason is given in this line: {line}")
            words.append(skip)
    return words


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what runs in the background with Ctrl-C ignored, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    in_ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    if in_ci and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Skips(allowed_skips()))


class _Skips:
    """Remembers the skips that are not listed, and fails the run for them."""

    def __init__(self, allowed: list[str]) -> None:
        self.allowed = allowed
        self.unlisted: set[str] = set()

    def _look(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        # An expected failure is reported as a skip too, with the attribute `wasxfail`.
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            if not any(words in reason for words in self.allowed):
                self.unlisted.add(f"{report.nodeid}: {reason}")

    pytest_runtest_logreport = pytest_collectreport = _look

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unlisted:
            terminalreporter.section("skipped in CI, and not listed in .ci/skips.txt", red=True)
            for line in sorted(self.unlisted):
                terminalreporter.line(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the figures of tests that measured something."""
    reports = [r for how in ("passed", "failed") for r in terminalreporter.getreports(how)]
    found = [value for r in reports for name, value in r.user_properties if name == FIGURES]
    if found:
        terminalreporter.section("figures")
        for text in found:
            terminalreporter.line(str(text))
