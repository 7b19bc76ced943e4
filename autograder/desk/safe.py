"""What a learner wrote, made fit for an instructor's browser: nothing in it runs.

nbgrader's pages show HTML as it comes, in a page that may do all that the instructor may.
"""

from __future__ import annotations

import html as escaping
import re
from typing import Any

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"class", "style"},
    "details": {"open"},
}
# Looks, but nothing that lays itself over the page.
_STYLES = {
    *("background", "background-color", "color", "opacity", "line-height", "white-space"),
    *("border", "border-left", "border-radius", "border-collapse", "padding", "margin"),
    *("font-family", "font-size", "font-style", "font-weight", "overflow-wrap"),
    *("text-align", "text-decoration", "vertical-align"),
    *("width", "min-width", "max-width", "height", "max-height", "display", "overflow-x"),
}
# Nesting without end takes the square of its depth, and attributes that of their number.
_MOST_TAGS = 5_000
_LONGEST_HTML = 100_000
_LONGEST_MARKDOWN = 20_000
_COLOURED = re.compile(r"highlight|[a-z][a-z0-9]{0,2}")  # Pygments' classes, none of nbgrader's


def html(text: str) -> str:
    """HTML without scripts, forms, frames, and names that nbgrader's pages use themselves."""
    if len(text) > _LONGEST_HTML or text.count("<") > _MOST_TAGS:
        return _plain(text)
    return nh3.clean(
        text.encode("utf-8", "replace").decode("utf-8"),  # halves of characters stop it
        attributes=_ATTRIBUTES,
        attribute_filter=_kept,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
    )


def _kept(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if _COLOURED.fullmatch(value) else None
    if value.strip().lower().startswith("data:"):
        return value if (tag, name) == ("img", "src") else None
    return value


def markdown(text: str, attachments: dict[str, Any] | None = None) -> str:
    """Markdown as nbconvert makes HTML of it, made safe."""
    if len(text) > _LONGEST_MARKDOWN:
        return _plain(text)
    renderer = IPythonRenderer(
        escape=False, exclude_anchor_links=True, attachments=attachments or {}
    )
    try:
        return html(MarkdownWithMath(renderer=renderer).render(text))
    except Exception:  # a picture that isn't there, or nesting without end: a page all the same
        return _plain(text)


def _plain(text: str) -> str:
    return f"<pre>{escaping.escape(text)}</pre>"


@pass_context
def markdown2html(context: Context, text: str) -> str:
    """As :func:`markdown`, for ``c.HTMLExporter.filters`` in ``nbgrader_config.py``."""
    return markdown(text, (context.get("cell") or {}).get("attachments"))
