"""Renders templates of pages, and makes sure that all inserted text is safe to show.

Knows: jinja2. Must not know: any page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from amqpspec.reports.text import plural, visible

SHARED_SHEET = Path(__file__).parent / "style.css"
"""The style that all pages share."""


def fit(value: object) -> object:
    """Make every inserted value safe to show; None stays None, and our markup is unchanged."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment(folder: Path, scripts: Sequence[str] = ()) -> Environment:
    """An environment for the templates of a folder: unknown names are errors, and texts are escaped.

    ``css`` contains the common style and the style sheets of the folder, ``js`` the named scripts; pages embed both.
    """
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=fit,
    )
    sheets = [SHARED_SHEET, *(path for path in sorted(folder.glob("*.css")) if path != SHARED_SHEET)]
    made.globals.update(css=_joined(sheets), js=_joined([folder / name for name in scripts]), plural=plural)
    return made


def _joined(paths: Iterable[Path]) -> Markup:
    return Markup("\n".join(path.read_text(encoding="utf-8") for path in paths))
