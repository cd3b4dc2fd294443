"""Decoded values as text and as JSON data, kept short.

Knows: how long evidence may be, which octets are text. Must not know: frames, dialects, secrets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from amqpspec.wire.errors import WireError

MAX_LINE = 1024
_MAX_TEXT, _MAX_ENTRIES, _FIRST_OCTETS = 256, 64, 24
MASK = b"*"


def masked(octets: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """The octets with these spans (start, stop) starred out; the length stays."""
    shown = bytearray(octets)
    for start, stop in spans:
        shown[start:stop] = MASK * (stop - start)
    return bytes(shown)


def said(error: WireError, actual: str | None = None) -> str:
    """An error without its hex window, which may show a secret; ``actual`` also replaces what might show one."""
    return f"{error.where} at octet {error.offset}: {actual or error.actual}, expected {error.expected}"


def first_octets(octets: bytes) -> str:
    """How many octets there are, and the first of them in hex."""
    if not octets:
        return "0 octets"
    more = " …" if len(octets) > _FIRST_OCTETS else ""
    return f"{len(octets)} octets: {octets[:_FIRST_OCTETS].hex(' ')}{more}"


def with_fields(start: str, fields: Mapping[str, Any]) -> str:
    """A line of words: what it is, then each field with its value."""
    return " ".join((start, *(f"{name}={value!r}" for name, value in fields.items())))


def cut(text: str, length: int = _MAX_TEXT) -> str:
    """The beginning of a text that is too long, and how long it is."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def text_of(text: str) -> str:
    """Text as JSON can carry it: octets that were not UTF-8 as escapes."""
    return cut(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def octets_of(octets: bytes) -> Any:
    """Octets as text if they are text, else in hex."""
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        text = ""
    if (text or not octets) and "".join(text.split()).isprintable():
        return text_of(text)
    more = "…" if len(octets) > _MAX_TEXT else ""
    return {"octets": len(octets), "hex": octets[:_MAX_TEXT].hex() + more}


def leaf(value: Any) -> Any:
    """A value without others in it as JSON data."""
    if isinstance(value, bytes):
        return octets_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return text_of(value) if isinstance(value, str) else value


def entries(values: Sequence[Any], show: Callable[[Sequence[Any]], Any]) -> Any:
    """The entries of a list, table or map as ``show`` gives them; of too many the first, and how many there are."""
    shown = show(values[:_MAX_ENTRIES])
    return shown if len(values) <= _MAX_ENTRIES else {"entries": len(values), "first": shown}


def named(fields: Sequence[tuple[str, Any]], show: Callable[[Any], Any]) -> Any:
    """A table's fields by name, as pairs if a name stands there more than once; see ``entries``."""

    def shown(some: Sequence[tuple[str, Any]]) -> Any:
        pairs = [(text_of(name), show(value)) for name, value in some]
        table = dict(pairs)
        return list(map(list, pairs)) if len(table) < len(pairs) else table

    return entries(fields, shown)
