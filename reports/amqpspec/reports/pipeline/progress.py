"""Progress of the pipeline, one line at a time.

Knows: nothing. Must not know: terminals.
"""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]


def silence(line: str) -> None:
    """Discards messages."""
