"""Templates of pages: how they are rendered, and that whatever goes into them is fit to show.

Knows: jinja2. Must not know: any page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from amqpspec.reports.text import visible


def fit(value: object) -> object:
    """Everything that goes into a page is fit to show; markup of our own passes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment(folder: Path, finalize: Callable[[object], object] = fit) -> Environment:
    """An environment for the templates of a folder: names must be known, texts are escaped."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
