"""Mistyped names.

Knows: likeness of words. Must not know: what the names are of.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(actual: str, known: Iterable[str]) -> str:
    """The known name that is most like an unknown one, to be put after a complaint; empty if none is like it."""
    found = get_close_matches(actual, list(known), n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""
