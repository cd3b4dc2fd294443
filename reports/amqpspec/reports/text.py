"""Makes text from the wire safe to show: characters that no format allows, or that mislead readers, become escapes.

Knows: which characters XML forbids and which ones reorder a line. Must not know: where the text is shown.
"""

from __future__ import annotations

import re

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line feed
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the direction of a line
    "\ud800-\udfff\ufffe\uffff]"
)
_LONG = re.compile(r"(?:\b[0-9a-f]{2} ){31,}[0-9a-f]{2}\b|[^\s/]{96,}")
_KEPT = 32
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def visible(text: str) -> str:
    """The text with every unsafe character as its escape: ``\\x00``, ``\\u202e``."""
    return _UNFIT.sub(lambda found: _escape(ord(found[0])), text)


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, cut at ``limit`` characters if that is given."""
    flat = " ".join(visible(text).split())
    return flat if not limit or len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def cut_octets(text: str) -> str:
    """The text with long sequences without spaces, such as octets, cut in the middle."""
    return _LONG.sub(lambda found: f"{found[0][:_KEPT]}…{found[0][-_KEPT:]}", text)


def csv_cell(value: object) -> object:
    """A cell for CSV: an apostrophe is added before text that a spreadsheet would read as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def plural(count: int, noun: str) -> str:
    """``1 case``, ``2 cases``, ``0 entries``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
