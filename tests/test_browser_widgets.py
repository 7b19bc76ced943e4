"""Widgets moved in a real JupyterLab, with the mouse and with the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser import Lesson, Server
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.xdist_group("browser")
LESSON = "01_add_and_model"
# What a screen reader calls the drawn picture: it says all numbers.
DRAWN = "svg[role=img]"


@pytest.fixture
def page(lesson: Callable[[str], Lesson]) -> Lesson:
    """The lesson, with the class Model made."""
    opened = lesson(LESSON)
    for name in ("given_setup", "given_model"):
        opened.run(name)
    return opened


def focus_by_tab(page: Page, start: Locator, wanted: Locator) -> None:
    """Press Tab from one element on until another has the focus."""
    start.focus()
    for _ in range(20):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab doesn't get there")


def test_moving_numbers(page: Lesson, jupyterlab: Server) -> None:
    out = page.run("given_by_hand")
    drawn, words = out.locator(DRAWN), out.get_by_role("status")
    expect(words).to_contain_text("grad_input (15, 10), gradient of W 6.")
    expect(out.locator(".hooks-still")).to_be_hidden()

    out.get_by_label("x1", exact=True).fill("4")
    page.page.keyboard.press("Tab")
    expect(words).to_contain_text("grad_input (15, 20), gradient of W 12.")
    expect(drawn).to_have_attribute("aria-label", re.compile(r"x1 = 4 times x2 = 3 is 12;.*x2 20"))

    slider = out.get_by_role("slider").nth(2)  # W
    focus_by_tab(page.page, out.get_by_label("x1", exact=True), slider)
    page.page.keyboard.press("ArrowLeft")
    expect(words).to_contain_text("grad_input (13.5, 18), gradient of W 12.")
    expect(out.get_by_label("W", exact=True)).to_have_value("4.5")

    box = out.locator(".noUi-base").nth(2).bounding_box()
    assert box is not None
    page.page.mouse.move(box["x"] + box["width"] * 0.725, box["y"] + box["height"] / 2)
    slider.hover()
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.page.mouse.up()
    expect(words).to_contain_text("grad_input (0, 0), gradient of W 12.")
    expect(drawn).to_have_attribute("aria-label", re.compile(r"W = 0 is output = 0\."))
    drawn.scroll_into_view_if_needed()
    page.page.screenshot(path=jupyterlab.pictures / "moved_numbers.png")

    out.get_by_role("button", name="Reset").click()
    expect(words).to_contain_text("input (2, 3), output 30.")

    page.run("given_by_hand")
    expect(out.locator(".hooks-live")).to_have_count(1)
    expect(out.locator(DRAWN)).to_have_count(1)


@pytest.mark.long
def test_moving_the_gradient_from_behind(page: Lesson) -> None:
    out = page.run("given_upstream")
    expect(out.get_by_role("status")).to_contain_text("grad_output (3,), grad_input (45, 30)")
    out.get_by_label("grad_output", exact=True).fill("-1")
    page.page.keyboard.press("Enter")
    expect(out.get_by_role("status")).to_contain_text("grad_output (-1,), grad_input (-15, -10)")


@pytest.mark.long
def test_stepping_and_coming_back_another_day(page: Lesson, jupyterlab: Server) -> None:
    out = page.run("given_timeline")
    words, drawn = out.get_by_role("status"), out.locator(DRAWN)
    expect(words).to_have_text(re.compile(r"^1 of 13\. You: model\(x1, x2\)"))
    following = out.get_by_role("button", name="Next")
    following.click()
    expect(words).to_contain_text("2 of 13. PyTorch calls the forward_pre_hook of the module.")
    for key in ("Enter", "Space"):  # the button has kept the focus
        page.page.keyboard.press(key)
    expect(words).to_contain_text("4 of 13.")
    expect(words).to_contain_text("input = (2, 3), output = 30")
    expect(drawn).to_have_attribute("aria-label", re.compile(r"4\. module: forward_hook\.$"))
    out.get_by_label("Step").fill("8")
    page.page.keyboard.press("Tab")
    expect(words).to_contain_text("8 of 13. PyTorch calls the tensor hook on W.")
    expect(out.get_by_role("row", name="gradient")).to_contain_text("6 ◂ new")
    drawn.scroll_into_view_if_needed()
    page.page.screenshot(path=jupyterlab.pictures / "stepped.png")
    page.save()
    assert page.path.stat().st_size < 1_000_000

    # The kernel is still there: the buttons work in a new window of it.
    page.page.reload()
    Lesson(page.page, page.path)
    out.get_by_role("button", name="Back").click()
    expect(words).to_contain_text("7 of 13.")

    # The kernel is gone: the whole picture, and a word of what to do.
    jupyterlab.stop_kernels()
    page.page.reload()
    Lesson(page.page, page.path)
    still = out.get_by_role("img", name=re.compile(r"13\. you: backward\(\) is done\.$"))
    expect(still).to_be_visible()
    lost = out.locator(".jp-OutputArea-output").last
    expect(lost).to_have_css("font-size", "0px")  # "Error displaying widget: model not found"
    said = lost.evaluate("element => getComputedStyle(element, '::after').content")
    assert said == '"Run this cell to bring the buttons and sliders back."'
