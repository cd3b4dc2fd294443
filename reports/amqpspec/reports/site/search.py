"""The index of the search page: each page with its title, its kind and its search words.

Knows: which pages exist. Must not know: HTML, how the script searches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from amqpspec.reports.text import one_line

INDEX = "assets/search-index.js"
_WORDS = 300

Entry = tuple[str, str, str, str]
"""Page, title, kind, text."""


def index(entries: Iterable[Entry]) -> str:
    """A script that contains the index: a page opened from a disk may run a script, but not fetch JSON."""
    rows = [[page, one_line(title), kind, one_line(text, _WORDS)] for page, title, kind, text in entries]
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":")).replace("],[", "],\n[")
    return f"window.amqpspecPages={text};\n"
