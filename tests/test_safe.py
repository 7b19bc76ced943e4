"""What a learner wrote, in nbgrader's pages."""

from __future__ import annotations

import json
import re
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import v4
from nbgrader.converters import GenerateFeedback
from test_nbgrader_config import settings

from autograder.desk import safe
from autograder.desk.executed import plain_outputs
from autograder.lab.box import Box
from autograder.lab.figure import Picture
from autograder.marking import CellRun, Observations, Outcome

# Each would call stop() in a page that shows HTML as it comes.
ATTACKS = [
    "<script>stop()</script>",
    "<img src=x onerror=stop()>",
    "<svg onload=stop()></svg>",
    "<iframe srcdoc='<script>parent.stop()</script>'></iframe>",
    "<a href='javascript:stop()'>x</a>",
    "<a href='java\nscript:stop()'>x</a>",
    "<a href='data:text/html,<script>stop()</script>'>x</a>",
    "<form action='javascript:stop()'><button>x</button></form>",
    "<details open ontoggle=stop()>x</details>",
    "<math><mtext></form><form><mglyph><svg><mtext><textarea><path id='</textarea>"
    "<img onerror=stop() src=1>'>",
    "<base href='//elsewhere/'>",
    "<meta http-equiv=refresh content='0;url=javascript:stop()'>",
    "<style>@import '//elsewhere';</style>",
    "<div style='position:fixed;top:0;width:100%'>x</div>",
    "<input id=hook class=score value=30>",
]
IN_MARKDOWN = [
    "[x](javascript:stop())",
    "[x]: javascript:stop()\n[x]",
    "<javascript:stop()>",
    "```mermaid\n<img src=x onerror=stop()>\n```",
    "![x](attachment:nothing)",
    "# <b onclick=stop()>x</b>",
]
HARMFUL = [
    *("<script", "onerror", "onload", "ontoggle", "onclick", "=javascript:", "=data:text"),
    *("<iframe", "<form", "<button", "<base", "<meta", "<style", "<input", "position", "id="),
]


def harm(html: str) -> list[str]:
    html = re.sub("[\"'\n]", "", html.lower())
    return [word for word in HARMFUL if word in html]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs(attack: str) -> None:
    assert harm(attack), "it is an attack"
    assert not harm(safe.html(attack))
    assert not harm(safe.html(f"<table>{attack}"))
    assert not harm(safe.markdown(f"Some *text*.\n\n{attack}\n"))


@pytest.mark.parametrize("attack", IN_MARKDOWN)
def test_nothing_runs_in_markdown(attack: str) -> None:
    assert not harm(safe.markdown(attack))


def test_what_is_written_in_good_faith_stays() -> None:
    assert safe.markdown("If $a<b$ then `a < b`.") == (
        "<p>If $a&lt;b$ then <code>a &lt; b</code>.</p>\n"
    )
    assert "<details>" in safe.markdown("<details><summary>Hint</summary>\n\nmore\n</details>")
    assert '<span class="k">def</span>' in safe.markdown("```python\ndef f(): ...\n```")
    assert 'src="data:image/png;base64,iVBO"' in safe.markdown(
        "![x](attachment:x.png)", {"x.png": {"image/png": "iVBO"}}
    )
    failed = Outcome(False, "The list", "Seen: [1, 2].", "different", "Look again.", 2)
    box = safe.html(Box(failed)._repr_html_())
    assert "border-left:4px solid #b3541e" in box and "Look again." in box
    shown = Picture(2, 1)._repr_mimebundle_()["text/html"]
    styles = re.findall('style="(.*?)"', shown)
    picture = safe.html(shown)
    assert styles and re.findall('style="(.*?)"', picture) == styles
    assert 'src="data:image/png;base64,' in picture


@pytest.mark.parametrize("text", ["<div>" * 50_000, "[" * 200_000, "> " * 100_000, "*a " * 50_000])
def test_text_without_end_is_shown_as_it_is(text: str) -> None:
    assert safe.markdown(text).startswith("<pre>")


@pytest.mark.parametrize("text", ["<a " + " ".join(map(str, range(99_999))), "&amp" * 99_999])
def test_html_without_end_is_shown_as_it_is(text: str) -> None:
    assert safe.html(text).startswith("<pre>")


def test_a_notebook_of_many_pages_is_shown_without_them() -> None:
    def shown(pages: int) -> set[str]:
        data = {"text/plain": "plain", "text/html": "<b>x</b>" * 10_000}
        output = {"output_type": "display_data", "data": data, "metadata": {}}
        run = CellRun("own", "ok", (output,) * pages)
        outputs = plain_outputs(Observations({"own": run}, ()), "own")
        return {kind for output in outputs for kind in output["data"]}

    assert shown(12) == {"text/plain", "text/html"}
    assert shown(13) == {"text/plain"}


def shown_of(output: dict[str, Any]) -> dict[str, Any]:
    run = CellRun("own", "ok", (output,))
    (shown,) = plain_outputs(Observations({"own": run}, ()), "own")
    return shown


@pytest.mark.parametrize("escape", ["\x1b[38m", "\x1b[48;5m", "\x1b[31m", "\x1b", "\x1b[" * 99])
def test_escapes_of_terminals_are_left_out(escape: str) -> None:
    text = f"{escape}text"
    kinds = [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
        {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}},
    ]
    for kind in kinds:
        assert "\\u001b" not in json.dumps(shown_of(kind))
        cell = v4.new_code_cell(outputs=[nbformat.from_dict(shown_of(kind))])
        HTMLExporter().from_notebook_node(v4.new_notebook(cells=[cell]))


def test_outputs_hold_what_a_page_may_show() -> None:
    data = {
        "text/plain": "plain",
        "text/html": ATTACKS[0] + "<b>bold</b>",
        "text/markdown": "*text*",
        "application/javascript": "stop()",
        "application/vnd.jupyter.widget-view+json": {"model_id": "1"},
        "image/png": "iVBO",
        "image/svg+xml": "<svg/>",
    }
    output = {"output_type": "display_data", "data": data, "metadata": {"text/html": {}}}
    assert shown_of(output) == {
        "output_type": "display_data",
        "data": {
            "text/plain": "plain",
            "text/html": "<b>bold</b>",
            "image/png": "iVBO",
            "image/svg+xml": "<svg/>",
        },
        "metadata": {},
    }
    markdown = {"output_type": "display_data", "data": {"text/markdown": f"*a* {ATTACKS[1]}"}}
    assert shown_of(markdown)["data"] == {"text/html": '<p><em>a</em> <img src="x"></p>\n'}


@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_our_settings_make_nbgraders_pages_safe(template: str) -> None:
    config = GenerateFeedback(config=settings()).config
    config.HTMLExporter.template_name = template
    answer = v4.new_markdown_cell(
        f"**Mine** {ATTACKS[1]}\n\n![x](attachment:none)",
        metadata={"nbgrader": {"grade_id": "a", "solution": True, "grade": False}},
    )
    also = v4.new_markdown_cell(f"**Also mine** {ATTACKS[1]}")
    resources = {"nbgrader": {"notebook": "n", "score": 0, "max_score": 0, "late_penalty": 0}}
    resources |= {"index": 0, "total": 1, "base_url": ""}
    html, _ = HTMLExporter(config=config).from_notebook_node(
        v4.new_notebook(cells=[answer, also]), resources
    )
    assert "**Mine**" in html, "a picture is missing, so it is shown as it was written"
    assert "<strong>Also mine</strong>" in html
    assert "<img src=x" not in html and 'onerror="' not in html
