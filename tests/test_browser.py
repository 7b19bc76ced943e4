"""The learner's hour in JupyterLab, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser import ROOT, Lesson, Server, card_and_contrast, contrasts
from playwright.sync_api import Page, expect

from autograder import marking
from autograder.course import Course, Exercise, Master

COURSE = Course(ROOT)
LESSONS = COURSE.lessons()
TRY_IT = "# Try it"
# One wrong answer for each exercise, of those in tests/answers/LESSON/EXERCISE/wrong.
WRONG = {
    "01_add_and_model": {
        "pre_hook": "whole_input",
        "output_hook": "print_only",
        "hook": "minus",
        "module_hook": "inputs_only",
        "normalise_hook": "by_grad_output",
        "tensor_hook": "print_only",
    }
}
Open = Callable[[str], Lesson]


def title(master: Master) -> str:
    return master.cells[0].source.partition("\n")[0].removeprefix("# ")


def typed(exercise: Exercise) -> str:
    """The solution, without its comments."""
    lines = exercise.answer.solution.splitlines() if exercise.answer else []
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


@pytest.mark.parametrize("name", LESSONS)
def test_from_the_first_page_to_full_marks(name: str, window: Page, jupyterlab: Server) -> None:
    master = COURSE.master(name)
    asked: list[str] = []
    window.on("request", lambda request: asked.append(request.url))

    window.goto(jupyterlab.first)
    page = window.locator(".jp-MarkdownViewer")
    expect(page.get_by_role("heading", name="How checking works")).to_be_visible()
    # JupyterLab has settled when the file browser shows what is open.
    expect(window.locator(".jp-DirListing-item.jp-mod-selected")).to_contain_text("README.md")
    window.screenshot(path=jupyterlab.pictures / "first_page.png")
    page.get_by_role("link", name=title(master)).click()
    lesson = Lesson(window, jupyterlab.folder / "notebooks" / name / master.path.name)

    # Unsolved: "Run All" goes through to the end, and each check says in its box what to do.
    lesson.choose("Run", "Run All Cells")
    points = f"{master.max_score:g} points"
    expect(lesson.output("given_check")).to_contain_text(f"0 of {points}")
    for exercise in master.exercises:
        expect(lesson.output(exercise.id)).to_contain_text("This exercise is still a TODO")

    for exercise in master.exercises:
        lesson.type_in_place_of_todo(exercise.id, typed(exercise))
        out = lesson.check(exercise.id)
        expect(out).to_contain_text("✓")
        expect(out).not_to_contain_text("Not yet")
    window.screenshot(path=jupyterlab.pictures / "solved.png")

    lesson.save()
    expect(lesson.run("given_check")).to_contain_text(f"{points[:-7]} of {points}")
    window.screenshot(path=jupyterlab.pictures / "full_marks.png")
    expect(lesson.validate()).to_contain_text("Success! Your notebook passes all the tests.")
    assert [
        url for url in asked if not url.startswith(("http://localhost", "data:", "blob:"))
    ] == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_shows_its_sentence(
    name: str, lesson: Open, window: Page, jupyterlab: Server
) -> None:
    page, master = lesson(name), COURSE.master(name)
    words = marking.for_lesson(master.sentences)
    sentences = []
    for cell in master.cells:
        if cell.kind == "given" and re.search("^(class|from) ", cell.source, re.M):
            page.run(cell.grade_id)
    assert list(WRONG[name]) == [exercise.id for exercise in master.exercises]
    for exercise, wrong in WRONG[name].items():
        file = ROOT / "tests" / "answers" / name / exercise / "wrong" / f"{wrong}.py"
        mistake, _, code = file.read_text().removeprefix("# mistake: ").partition("\n")
        rest = page.source(f"{exercise}_answer").partition(TRY_IT)[2]
        page.write(f"{exercise}_answer", f"{code}\n\n{TRY_IT}{rest}")
        sentences.append(words[mistake].says)
        # The box shows `names` as code.
        expect(page.check(exercise)).to_contain_text(sentences[-1].replace("`", ""))
    window.screenshot(path=jupyterlab.pictures / "wrong.png")

    dialog = page.validate()
    for exercise, sentence in zip(WRONG[name], sentences, strict=True):
        expect(dialog).to_contain_text(f"# Check of {exercise}: run this cell.")
        expect(dialog).to_contain_text(sentence)
    expect(dialog).not_to_contain_text("expect(")


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.long
def test_all_can_be_read_in_both_themes(
    name: str, lesson: Open, window: Page, jupyterlab: Server
) -> None:
    page = lesson(name)
    page.choose("Run", "Run All Cells")
    expect(page.output("given_check")).to_contain_text("points")
    page.output("given_check").scroll_into_view_if_needed()
    # Plain text and errors have JupyterLab's own colours.
    plain = '[data-mime-type^="application/vnd.jupyter"]'
    outputs = page.panel.locator(f".jp-OutputArea-output:not({plain})")
    pictures = outputs.get_by_role("img")
    seen = {}
    try:
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            page.choose_theme(theme)
            window.screenshot(path=jupyterlab.pictures / f"{theme}.png")
            for output in outputs.all():
                pale = {text: one for text, one in contrasts(output).items() if one < 4.5}
                assert pale == {}, theme
            drawn = [card_and_contrast(picture) for picture in pictures.all()]
            assert min(contrast for _, contrast in drawn) > 4.5
            seen[theme] = [card for card, _ in drawn]
    finally:
        page.choose_theme("JupyterLab Light")
    light, dark = seen.values()
    assert light == dark  # each picture brings its own card
    assert len(light) > 1
