"""Checks in JupyterLab: what is not saved, links that lead somewhere, what stops, coming back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser import Lesson, Server
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(900)]

Open = Callable[[str], Lesson]
LESSON = "01_add_and_model"
RIGHT = "def hook(module, input, output):\n    return output + 5"
FOREVER = "def hook(module, input, output):\n    while True:\n        pass"


@pytest.mark.long
def test_the_table_leads_to_the_exercises(lesson: Open, window: Page, jupyterlab: Server) -> None:
    page = lesson(LESSON)
    for name in ("given_setup", "given_add"):
        page.run(name)
    page.write("hook_answer", RIGHT)
    page.run("hook_answer")

    # Not saved: the file still holds the TODO.
    out = page.run("given_check")
    expect(out).to_contain_text("Not saved since you ran the cell of hook")
    expect(out).to_contain_text("0 of 30 points")

    page.save()
    out = page.run("given_check")
    expect(out).to_contain_text("4 of 30 points")
    expect(out).not_to_contain_text("Not saved")
    solution = out.locator("tr", has_text="Exercise 3").locator("details")
    expect(solution.locator("pre")).to_be_hidden()
    solution.locator("summary").click()
    expect(solution.locator("pre")).to_have_text(RIGHT)
    assert out.locator("details").count() == 1
    window.screenshot(path=jupyterlab.pictures / "table.png")

    for number in (1, 6):
        out.get_by_role("link", name=f"Exercise {number}:").click()
        heading = page.panel.get_by_role("heading", name=f"Exercise {number}:")
        expect(heading).to_be_in_viewport()
        page.cell("given_check").scroll_into_view_if_needed()
    assert len(window.context.pages) == 1


@pytest.mark.long
def test_interrupt_stops_it_in_one_line(lesson: Open, window: Page, jupyterlab: Server) -> None:
    page = lesson(LESSON)
    page.run("given_setup")
    page.write("hook_answer", FOREVER)
    page.save()
    prompt = page.cell("given_check").locator(".jp-InputArea-prompt")
    prompt.click()
    window.keyboard.press("Control+Enter")
    out = page.output("given_check")
    expect(out).to_contain_text("Running your notebook in a fresh process: cell")
    window.screenshot(path=jupyterlab.pictures / "running.png")
    prompt.click()
    window.keyboard.press("i")
    window.keyboard.press("i")
    expect(out).to_contain_text("Stopped. Run this cell again whenever you like.")
    expect(out).not_to_contain_text("Traceback")
    expect(out).not_to_contain_text("Running")
    window.screenshot(path=jupyterlab.pictures / "stopped.png")


def test_a_broken_answer_a_loop_and_a_new_day(
    lesson: Open, window: Page, jupyterlab: Server
) -> None:
    page = lesson(LESSON)
    for name in ("given_setup", "given_add"):
        page.run(name)
    page.write("hook_answer", RIGHT)
    expect(page.check("hook")).to_contain_text("✓")

    # What passed a moment ago is not judged in place of a cell that is no Python.
    page.write("hook_answer", RIGHT.replace(":", ""))
    out = page.check("hook")
    expect(out).to_contain_text("Python could not read the cell with your answer")
    expect(out).to_contain_text("(line 1 of the cell)")
    expect(out).not_to_contain_text("✓")
    out.scroll_into_view_if_needed()
    window.screenshot(path=jupyterlab.pictures / "unreadable.png")

    # The button that the first page speaks of.
    page.write(
        "hook_answer", f"{FOREVER}\n\nadd = Add()\nadd.register_forward_hook(hook)\nadd(1, 2)"
    )
    page.cell("hook_answer").locator(".jp-InputArea-prompt").click()
    window.keyboard.press("Control+Enter")
    expect(page.cell("hook_answer").locator(".jp-InputArea-prompt")).to_have_text("[*]:")
    page.panel.get_by_role("button", name="Interrupt the kernel").click()
    out = page.output("hook_answer")
    expect(out).to_contain_text("KeyboardInterrupt")
    expect(out).not_to_contain_text("torch/nn")
    window.screenshot(path=jupyterlab.pictures / "loop.png")

    # The next day: the menu that it speaks of.
    page.write("hook_answer", RIGHT)
    page.save()
    jupyterlab.stop_kernels()
    window.reload()
    page = Lesson(window, page.path)
    page.cell("hook").locator(".jp-InputArea-prompt, .jp-Placeholder").first.click()
    page.choose("Run", "Run All Above Selected Cell")
    expect(page.output("hook_answer")).not_to_contain_text("KeyboardInterrupt")
    expect(page.check("hook")).to_contain_text("✓")
