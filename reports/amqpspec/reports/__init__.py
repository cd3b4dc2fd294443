"""Renderers of finished runs: what a run folder says, as HTML, JUnit, Markdown, JSON and a badge.

Knows: how to write every report of a run folder in one call.
Must not know: sockets, brokers, how a verdict came about. The renderers load when first used, so that
importing this package costs nothing.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["render_all"]


def render_all(folder: Path) -> dict[str, Path]:
    """Write ``matrix.html``, ``junit.xml``, ``summary.md`` and ``badge.svg`` beside ``results.json``.

    Each is written atomically. Raises ReportError when results.json is missing or not readable as such.
    """
    from amqpspec.reports.render import render_all as write

    return write(folder)
