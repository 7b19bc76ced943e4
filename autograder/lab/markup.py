"""Sentences as HTML: escaped, with `code` set as code. Styles are inline, there is no script."""

from __future__ import annotations

import html
import re

_SPAN = re.compile(r"`([^`]+)`")


def rich(text: str, code_style: str = "") -> str:
    """The text as HTML in which what stands between backticks is code."""
    opening = f'<code style="{code_style}">' if code_style else "<code>"
    return _SPAN.sub(rf"{opening}\1</code>", html.escape(text))
