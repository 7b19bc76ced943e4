"""Formgrader in a real browser: it shows this grader's verdicts, and its button gives them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

import nbformat.v4 as v4
import psutil
import pytest
from browser import wait_for
from classroom import CLASS, IDS, LESSON, NAME, POINTS, marks, run, wanted

from autograder.engine import Limits

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.xdist_group("formgrader"), pytest.mark.timeout(900)]

ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SHOWN = f"""
# {ATTACK}
from IPython.display import HTML, Javascript, Markdown, SVG, display
display(HTML("{ATTACK}<p>as HTML</p>"), Markdown("{ATTACK} as *Markdown*"), Javascript("alert(3)"))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(4)"></svg>'))
print("{ATTACK}")
"""


@dataclass(frozen=True)
class Formgrader:
    """A JupyterLab with formgrader on a graded course."""

    course: Path
    pictures: Path
    address: str
    process: psutil.Process

    def page(self, path: str) -> str:
        return f"{self.address}formgrader/{path}"

    def servers(self) -> list[psutil.Process]:
        """The engine's warm processes in it."""
        children = self.process.children(recursive=True)
        servers = [child for child in children if "autograder.engine.server" in child.cmdline()]
        return [server for server in servers if server.name() != "bwrap"]


@pytest.fixture(scope="module")
def formgrader(
    graded: Path, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Formgrader]:
    folder = tmp_path_factory.mktemp("formgrader")
    course = folder / "course"
    shutil.copytree(graded, course)
    attack(course, "eve", f"{NAME}.ipynb")
    attack(course, "mal", f"{ATTACK.replace('/', '')}.ipynb")
    # The others are kept as they are, where they were graded with the same limits.
    assert run(course, limits=Limits(cell_seconds=8)) == 0
    pictures = folder / "screenshots"
    pictures.mkdir()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--port=0", "--allow-root"),
        *(f"--ServerApp.root_dir={course}", "--IdentityProvider.token=word"),
    ]
    environment = os.environ | {"HOME": str(folder / "home")}
    with subprocess.Popen(
        command, cwd=course, env=environment, stderr=subprocess.PIPE, text=True
    ) as lab:
        lines: SimpleQueue[str] = SimpleQueue()
        reader = threading.Thread(target=read, args=[lab.stderr, lines])
        reader.start()
        server = psutil.Process(lab.pid)
        try:
            yield Formgrader(course, pictures, address_in(lines), server)
        finally:
            family = server.children(recursive=True)
            lab.terminate()
            lab.wait(60)
            reader.join()
            _, alive = psutil.wait_procs(family, timeout=60)
        assert not alive, "the server takes the engine with it"


def read(stream: IO[str], lines: SimpleQueue[str]) -> None:
    """Take what the server says, so that it never waits for a reader; '' is the end."""
    for line in stream:
        lines.put(line)
    lines.put("")


def address_in(lines: SimpleQueue[str]) -> str:
    said = ""
    while line := lines.get():
        said += line
        if found := re.search(r"http://localhost:\d+/", line):
            wait_for(found[0])
            return found[0]
    raise AssertionError(f"JupyterLab did not start: {said}")


def attack(course: Path, student: str, name: str) -> None:
    """Hand in ada's work with scripts in all that can be shown."""
    folder = course / "submitted" / student / LESSON
    shutil.copytree(CLASS / "ada" / LESSON, folder)
    content = json.loads((folder / f"{NAME}.ipynb").read_text("utf-8"))
    cells = [v4.new_code_cell(SHOWN), v4.new_markdown_cell(f"{ATTACK} as a text")]
    content["cells"] += json.loads(json.dumps(cells))
    (folder / f"{NAME}.ipynb").unlink()
    (folder / name).write_text(json.dumps(content), "utf-8")


@pytest.fixture
def page(browser: Browser, formgrader: Formgrader) -> Iterator[Page]:
    from browser import PATIENCE

    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE)
    # MathJax comes from elsewhere, and is not what is looked at.
    elsewhere = re.compile(rf"^https?://(?!{re.escape(formgrader.address.split('//')[1])})")
    page.route(elsewhere, lambda route: route.abort())
    page.goto(f"{formgrader.address}login?token=word&next=/formgrader/manage_assignments")
    yield page
    page.close()


def row(page: Page, student: str) -> Locator:
    """A student's row in the table of submissions."""
    return page.locator("#main-table tr").filter(
        has=page.locator(f'.student-id:text-is("{student}")')
    )


def press(page: Page, student: str, button: str) -> None:
    """Press a button of a student's row, and wait for success."""
    from playwright.sync_api import expect

    row(page, student).locator(f".{button} a").click()
    modal = page.locator("#success-modal")
    expect(modal).to_be_visible()
    modal.get_by_role("button", name="Close").last.click()
    expect(modal).to_be_hidden()


def open_submission(page: Page, student: str) -> None:
    """From the table to the student's notebook, by its links."""
    row(page, student).locator(".student-name a").click()
    page.get_by_role("link", name=NAME).click()


def test_an_instructors_way_through_formgrader(
    formgrader: Formgrader, page: Page, graded: Path
) -> None:
    from playwright.sync_api import expect

    page.goto(formgrader.page(f"manage_submissions/{LESSON}"))
    total = f"{sum(POINTS.values()):g}"
    for student, score in {"ada": "30", "dara": "4", "gus": "0", "fay": "26"}.items():
        expect(row(page, student).locator(".score")).to_have_text(f"{score} / {total}")
        expect(row(page, student).locator(".status")).to_have_text("graded")
    page.screenshot(path=formgrader.pictures / "submissions.png", full_page=True)

    open_submission(page, "dara")
    for name, points in wanted("dara").items():
        expect(page.locator(f"input#{name}")).to_have_attribute("placeholder", f"{points:g}")
    verdict = page.get_by_text("You stored a whole tuple")
    verdict.scroll_into_view_if_needed()
    page.screenshot(path=formgrader.pictures / "dara.png")

    # Dara hands in something better.
    target = formgrader.course / "submitted" / "dara" / LESSON
    shutil.copy(CLASS / "ada" / LESSON / f"{NAME}.ipynb", target)
    page.goto(formgrader.page(f"manage_submissions/{LESSON}"))
    press(page, "dara", "autograde")
    expect(row(page, "dara").locator(".score")).to_have_text(f"{total} / {total}")
    assert marks(formgrader.course)["dara"] == POINTS
    (server,) = formgrader.servers()
    press(page, "hana", "autograde")
    assert formgrader.servers() == [server], "it stays warm"
    assert marks(formgrader.course)["hana"] == marks(graded)["hana"]

    press(page, "dara", "generate-feedback")
    feedback = formgrader.course / "feedback" / "dara" / LESSON / f"{NAME}.html"
    page.goto(feedback.as_uri())
    expect(page.get_by_role("heading", name="Score").first).to_contain_text(
        f"{NAME} (Score: 30.0 / 30.0)"
    )
    page.screenshot(path=formgrader.pictures / "feedback.png")


@pytest.mark.long
def test_nothing_that_a_learner_wrote_runs(formgrader: Formgrader, page: Page) -> None:
    from playwright.sync_api import expect

    said: list[str] = []

    def answer(dialog: Any) -> None:
        said.append(dialog.message)
        dialog.accept()

    page.on("dialog", answer)
    with page.expect_event("dialog"):
        page.set_content(ATTACK)
    assert said, "it would be seen"
    said.clear()

    table = formgrader.page(f"manage_submissions/{LESSON}")
    for student in ("mal", "eve"):  # by `autograder grade`, and by the button
        page.goto(table)
        if student == "eve":
            press(page, student, "autograde")
        open_submission(page, student)
        expect(page.locator(f"input#{IDS[0]}")).to_have_attribute("placeholder", "4")
        expect(page.locator("body")).to_contain_text("as HTML")
        expect(page.locator("body")).to_contain_text("as Markdown")
        if student == "mal":
            expect(page.locator("body")).to_contain_text("the notebook is called <img")
        page.screenshot(path=formgrader.pictures / f"{student}_top.png")
        page.get_by_text("as Markdown").last.scroll_into_view_if_needed()
        page.screenshot(path=formgrader.pictures / f"{student}.png")
    expect(page.locator("body")).to_contain_text("as a text")

    # What people write goes into the feedback as well.
    comment = page.locator(f"textarea#{IDS[0]}_answer-comment")
    with page.expect_response(re.compile("/api/comment/")):
        comment.fill(f"{ATTACK} as a comment")
        comment.blur()
    page.goto(table)
    press(page, "eve", "generate-feedback")
    feedback = formgrader.course / "feedback" / "eve" / LESSON / f"{NAME}.html"
    page.goto(feedback.as_uri())
    for text in ("as HTML", "as Markdown", "as a text", "as a comment"):
        expect(page.locator("body")).to_contain_text(text)
    page.screenshot(path=formgrader.pictures / "eve_feedback.png")
    assert said == []
