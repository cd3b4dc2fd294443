"""Where AMQP/Fast carries secrets: in the table by which a client answers CHALLENGE.

Knows: which field that is, the alphabet of mechanisms' names. Must not know: states, files.

With sizes that are wrong, the mechanism before the secret may reach into it: it is shown as far as it can be a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.framing import frame_octets

RESPONSE, SECRET, _MECHANISM = "connection.response", "responses", "mechanism"
_CODE = DIALECT.commands_by_name[RESPONSE].code
_LAYOUT = DIALECT.layout
_LENGTH_OCTETS = {
    f.name: DIALECT.types_by_name[f.type].length_octets for f in DIALECT.commands_by_code[_CODE].fields
}
_NAME = re.compile(rb"[A-Z0-9_-]*")


def is_sound(args: Mapping[str, Any]) -> bool:
    """Whether a RESPONSE that can be read names a mechanism that can be one."""
    return _NAME.fullmatch(args[_MECHANISM].encode("utf-8", "surrogateescape")) is not None


def instead_of(command: str, field: str, value: Any) -> str | None:
    """What to show in place of a field's value, None if the value itself may be shown."""
    if command != RESPONSE:
        return None
    if field == _MECHANISM:
        return None if is_sound({_MECHANISM: value}) else f"<redacted, {len(value)} characters>"
    return f"<redacted, {len(value)} fields>"


def secret_spans(octets: bytes) -> list[tuple[int, int]]:
    """Where the secret is in one frame, or in the first octets of one: (start, stop), its size left out.

    After a frame that is cut short or runs on, everything may belong to it.
    """
    begin = _LAYOUT.header_octets
    if int.from_bytes(octets[: _LAYOUT.size_octets], "big") == _LAYOUT.escape:
        begin += _LAYOUT.long_size_octets
    if len(octets) <= begin or octets[begin - 1] != _CODE:
        return []
    whole = frame_octets(_LAYOUT, octets) == len(octets) and octets[-1] == _LAYOUT.end
    return [(_secret_at(octets, begin), len(octets) - 1 if whole else len(octets))]


def _secret_at(octets: bytes, begin: int) -> int:
    """Up to where octets can be a mechanism and the size of the table after it."""
    start = begin + _LENGTH_OCTETS[_MECHANISM]
    name_end = start + octets[begin]
    name = _NAME.match(octets, start, name_end)
    harmless = name.end() if name else start
    return min(harmless + (_LENGTH_OCTETS[SECRET] if harmless == name_end else 0), len(octets))
