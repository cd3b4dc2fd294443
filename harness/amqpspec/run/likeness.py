"""Comparing texts: a literal in which ``*`` matches any text, in time that grows linearly with the text.

Knows: strings. Must not know: what they say.
"""

from __future__ import annotations


def is_like(text: str, pattern: str) -> bool:
    """Whether the whole text is the pattern; each piece between stars is looked for once, after the one before."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    at, end = len(first), len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last) and at <= end):
        return False
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
