"""Pages from the documents in the root of the project: the README by sections, and the others as they are.

Knows: the README's headings. Must not know: mkdocs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SECTIONS = {
    "": "index.md",
    "Common tasks": "tasks.md",
    "Why the verdicts can be trusted": "trust.md",
    "Selecting cases, and other ways to run them": "selecting.md",
    "Verdicts": "verdicts.md",
}
"""Page of each section of the README; the text before the first heading is the start page."""
_NOT_SHOWN = {"More", "Licence"}
_WHOLE = {"CONTRIBUTING.md": "contributing.md", "ARCHITECTURE.md": "architecture.md"}
_PAGES = {**_WHOLE, "examples/notebooks/marts.ipynb": "notebook.md"}
"""Page of each document outside of the folder of documents."""
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")
_NEXT = "\n## Next\n\nSee the [common tasks](tasks.md), and how to run amqpspec [in your CI](ci.md).\n"


def pages() -> dict[str, str]:
    """Path in the site and Markdown of each page."""
    found = {page: _lists(_inside(_read(name))) for name, page in _WHOLE.items()}
    sections = _sections(_read("README.md"))
    unknown = set(sections) - set(_SECTIONS) - _NOT_SHOWN
    if unknown or set(_SECTIONS) - set(sections):
        raise ValueError(f"README.md: expected sections {sorted(_SECTIONS)}, actual {sorted(sections)}")
    for title, page in _SECTIONS.items():
        found[page] = f"# {title}\n{_inside(sections[title])}" if title else _start(sections[title])
    return found


def without_foreign_links(text: str, page: str) -> str:
    """Replace each link that leads out of the folder of documents by its text, or lead it to the document's page."""
    here = posixpath.dirname(page)

    def replaced(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, link[2]))
        if not target.startswith("../"):
            return link[0]
        inside = _PAGES.get(target.removeprefix("../"))
        return f"[{link[1]}]({posixpath.relpath(inside, here or '.')}{link[3] or ''})" if inside else link[1]

    return _LINK.sub(replaced, text)


def _start(text: str) -> str:
    return _inside(text).replace("# amqpspec\n", "# Getting started\n", 1) + _NEXT


def _lists(text: str) -> str:
    """The same with numbered lists as Python's Markdown wants them: four spaces, and a blank line after a block."""
    text = re.sub(r"^ {3}", " " * 4, text, flags=re.MULTILINE)
    return re.sub(r"^( {4}.*)\n(?=\d+\. )", r"\1\n\n", text, flags=re.MULTILINE)


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _sections(text: str) -> Mapping[str, str]:
    """The text before the first heading of the second level, and after each of them, by heading."""
    first, *rest = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def _inside(text: str) -> str:
    """The same with links adjusted to the folder of documents; links that lead elsewhere become plain text."""

    def moved(link: re.Match[str]) -> str:
        words, target, place = link[1], link[2], link[3] or ""
        target = _PAGES.get(target, target)
        if target.startswith("docs/"):
            return f"[{words}]({target.removeprefix('docs/')}{place})"
        return f"[{words}]({target}{place})" if target in _PAGES.values() else words

    return _LINK.sub(moved, text)
