"""JupyterLab as a learner has it: a real server on a copy of the course, a real browser.

The fixtures are in conftest.py: `jupyterlab` is one server for the whole session, `window` a fresh
browser window for one test, `lesson` opens a copy of a lesson in it. All of it waits for what a
person would wait for: a number in front of a cell, a text, the dot of the kernel.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 180_000  # ms: the machine may be busy with other tests
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-quic"),
)
_COURSE = ("notebooks", "solutions", "nbgrader_config.py")


class Server:
    """A running JupyterLab.

    Attributes:
        first: the address that it printed: the first page, with the token.
        folder: the copy of the course.
        pictures: the folder for screenshots.
    """

    def __init__(self, first: str, folder: Path, pictures: Path, process: subprocess.Popen[str]):
        self.first, self.folder, self.pictures, self.process = first, folder, pictures, process
        self._base, _, rest = first.partition("/lab/tree/")
        self._token = rest.partition("token=")[2]

    def address(self, path: str, workspace: str) -> str:
        """Where a file of the course is opened, without the tabs of other windows."""
        return f"{self._base}/lab/workspaces/{workspace}/tree/{path}?token={self._token}"

    def status(self, path: str) -> int:
        """The status of the answer to a request: 200, or 404 where there is no such page."""
        try:
            with self._open("GET", path) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code

    def stop_kernels(self) -> None:
        """Close all notebooks' sessions, as "Shut Down All" does."""
        with self._open("GET", "api/sessions") as reply:
            sessions = json.load(reply)
        for session in sessions:
            self._open("DELETE", f"api/sessions/{session['id']}").close()

    def _open(self, method: str, path: str) -> Any:
        request = urllib.request.Request(f"{self._base}/{path}", method=method)
        request.add_header("Authorization", f"token {self._token}")
        return urllib.request.urlopen(request, timeout=PATIENCE / 1000)


def copy_course(folder: Path) -> Path:
    """A course without anybody's work, for a test to write in."""
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    folder.mkdir()
    for name in _COURSE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name, **({"ignore": ignored} if (ROOT / name).is_dir() else {}))
    return folder


def wait_for(address: str, patience: float = 60) -> None:
    """Wait until somebody listens: Jupyter Server prints its address before it does."""
    parts = urllib.parse.urlsplit(address)
    deadline = time.monotonic() + patience
    while True:
        try:
            socket.create_connection((parts.hostname, parts.port), timeout=patience).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@contextlib.contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Server]:
    """`autograder lab` on a copy of the course in ``folder``, with a home of its own."""
    course, home = copy_course(folder / "course"), folder / "home"
    pictures = folder / "screenshots"
    pictures.mkdir()
    command = [sys.executable, "-m", "autograder", "lab", "--no-browser", "--port=0", *arguments]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=course,
            env=os.environ | {"HOME": str(home), "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            stdout=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stderr is not None
            said = ""
            for line in process.stderr:
                said += line
                if found := re.search(r"http://localhost:\d+/\S+", line):
                    break
            else:
                raise AssertionError(f"JupyterLab did not start: {said}")
            wait_for(found[0])
            # What it says later is not read; a pipe holds the few lines that there may be.
            yield Server(found[0], course, pictures, process)
        finally:
            process.terminate()
            process.communicate(timeout=60)


@contextlib.contextmanager
def browsing(program: str) -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield browser
        browser.close()


class Lesson:
    """A notebook that is open in a window. Cells are named by their grade_id."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.path = page, path
        cells = json.loads(path.read_text("utf-8"))["cells"]
        self._sources = ["".join(cell["source"]) for cell in cells]
        self._places = {
            cell["metadata"].get("nbgrader", {}).get("grade_id", cell["id"]): place
            for place, cell in enumerate(cells)
        }
        self.panel = page.locator(".jp-NotebookPanel:visible")
        # A notebook is drawn bit by bit; the last cell is there when all are.
        expect(self._at(len(cells) - 1)).to_be_attached()
        expect(self.panel.locator('.jp-Toolbar [data-status="idle"]').first).to_be_visible()

    def _at(self, place: int) -> Locator:
        return self.panel.locator(f'.jp-Cell[data-windowed-list-index="{place}"]')

    def cell(self, name: str) -> Locator:
        """A cell by its grade_id, or by its id where it has none (texts)."""
        return self._at(self._places[name])

    def source(self, name: str) -> str:
        """A cell's source, as it was when the notebook was opened."""
        return self._sources[self._places[name]]

    def output(self, name: str) -> Locator:
        """What stands below a cell."""
        return self.cell(name).locator(".jp-OutputArea")

    def run(self, name: str) -> Locator:
        """Run a cell that shows its code, and wait until it is done; its output."""
        prompt = self.cell(name).locator(".jp-InputArea-prompt")
        number = re.search(r"\d+", prompt.inner_text())
        prompt.click()
        self.page.keyboard.press("Control+Enter")
        another = rf"^\[(?!{number[0] if number else ''}\])\d+\]:$"
        expect(prompt).to_have_text(re.compile(another))
        return self.output(name)

    def check(self, exercise: str) -> Locator:
        """Run an exercise's answer cell and its folded check, with Shift+Enter twice; its output.

        Wait for a text in it: a folded cell shows nothing else that tells when it is done.
        """
        self.cell(f"{exercise}_answer").locator(".jp-InputArea-prompt").click()
        self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")
        return self.output(exercise)

    def write(self, name: str, code: str) -> None:
        """Put code into a cell in place of all that is there, as pasting does."""
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(code)

    def type_in_place_of_todo(self, exercise: str, code: str) -> None:
        """Type an answer with the keyboard, line by line, where `raise Todo` stands.

        Args:
            exercise: the exercise's name.
            code: the body of the function, without blocks inside it.
        """
        keys = self.page.keyboard
        answer = self.cell(f"{exercise}_answer")
        answer.locator(".cm-line", has_text="raise Todo").click()
        keys.press("End")
        keys.press("Shift+Home")
        for number, line in enumerate(textwrap.dedent(code).strip().splitlines()):
            if number:
                keys.press("Enter")  # the editor indents the new line like the one above
            keys.type(line)

    def choose(self, menu: str, item: str) -> None:
        """Choose an item of a menu."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=item, exact=True).click()

    def choose_theme(self, name: str) -> None:
        """Choose "JupyterLab Dark" or "JupyterLab Light", for all windows from now on."""
        self.page.get_by_role("menuitem", name="Settings", exact=True).click()
        menus = self.page.locator(".lm-Menu")
        menus.get_by_text("Theme", exact=True).click()
        menus.get_by_text(name, exact=True).click()
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", name)

    def validate(self) -> Locator:
        """Press the Validate button; its dialog."""
        self.panel.get_by_role("button", name="Validate").click()
        dialog = self.page.locator(".jp-Dialog")
        expect(dialog).to_contain_text("Validation Results")
        return dialog

    def save(self) -> None:
        """Press Ctrl+S and wait until the tab no longer has its "not saved" dot."""
        self.page.keyboard.press("Control+S")
        expect(self.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")).to_have_count(0)


# For each text in an element: the text, and how far its colour is from what is behind it.
_CONTRASTS = """root => {
  const parse = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
      if (a > 0) throw new Error("half transparent: " + e.outerHTML);
    }
    return [255, 255, 255];
  };
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
    if (!text || ["STYLE", "SCRIPT"].includes(element.tagName)) continue;
    if (!element.checkVisibility() || element.closest("svg")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    found.push([text, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
  }
  return found;
}"""


def contrasts(element: Locator) -> dict[str, float]:
    """The contrast (1 to 21, as WCAG counts it) of each text in an element, as the page shows it.

    Pictures are left out.
    """
    found: list[tuple[str, float]] = element.evaluate(_CONTRASTS)
    return dict(sorted(found, key=lambda pair: -pair[1]))


def card_and_contrast(picture: Locator) -> tuple[tuple[int, ...], float]:
    """A picture's commonest colour as the page shows it, and how far its farthest other one is.

    Colours that cover less than a thousandth are not counted.
    """
    # Cells on the way there are drawn only now, and move the picture.
    picture.scroll_into_view_if_needed()
    picture.hover(trial=True)
    image = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
    pixels = image.width * image.height
    counted = sorted(image.getcolors(pixels) or [], reverse=True)
    card, *others = [colour for count, colour in counted if count > pixels / 1000]
    assert isinstance(card, tuple)
    lights = [_light(colour) for colour in others if isinstance(colour, tuple)]
    own = _light(card)
    return card, max((max(own, one) + 0.05) / (min(own, one) + 0.05) for one in lights)


def _light(colour: tuple[int, ...]) -> float:
    """The relative luminance of an sRGB colour, as WCAG defines it."""
    parts = [part / 255 for part in colour]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(part * share for part, share in zip(parts, (0.2126, 0.7152, 0.0722), strict=True))
