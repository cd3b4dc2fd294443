"""C12: messages of AMQP 0-10 bent: packing flags, structs of the header, segments, packed bodies.

Knows: header structs, transfers. Must not know: which conversions a target does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from amqpspec.fuzz.amqp_0_10.grammar import MAKER
from amqpspec.fuzz.amqp_0_10.kit import may, say, transfer
from amqpspec.fuzz.families.base import Bend, Location, bend, coded_bodies, edges, locations_at
from amqpspec.fuzz.families.material import flipped_flags
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.malformed import sized, struct
from amqpspec.wire.amqp_0_10.values import Packed, UnknownStruct
from amqpspec.wire.values import Raw

_ROWS = (
    "encoding/header-segment/one-of-each",
    "encoding/packing/reserved-flags",
    "encoding/struct/required-field",
)
_STRUCTS = ("message.delivery-properties", "message.fragment-properties", "message.message-properties")
_GIVEN: dict[str, dict[str, Any]] = {
    _STRUCTS[0]: {"priority": 4, "delivery_mode": 1, "routing_key": "amqpspec.fuzz.none"},
    _STRUCTS[1]: {"fragment_size": 8},
    _STRUCTS[2]: {"content_type": "text/plain", "application_headers": {"k": "v"}},
}
_CODES = ((0, 0), (4, 0), (4, 4), (4, 255), (9, 1), (255, 255), (1, 1), (6, 1))


def _packing(place: Place) -> str:
    return "packing" if place.node.kind == "packing" else ""


def messages(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    yield from locations_at(dialect_id, state, _packing, flipped_flags, *_ROWS)
    if may(state, "message.transfer"):
        yield Location("header.order", _orders, _ROWS)
        yield Location("header.struct", _structs, (*_ROWS, "struct32/first-six-octets"))
        yield Location("header.field", _fields, _ROWS)
        yield Location("body.packed", coded_bodies(_coded))
        yield Location("body.length", _lengths)
        yield Location("transfer.mode", _modes, ("execution/error-code/illegal-argument",))


def _carried(*entries: Any) -> bytes:
    return say("message.transfer", destination="", header=entries, body=b"amqpspec")


def _orders() -> Iterator[Bend]:
    """Structs in every order, some of them missing, each of them several times."""
    whole = [Packed(name, fields) for name, fields in _GIVEN.items()]
    for count in range(len(whole) + 1):
        for chosen in permutations(whole, count):
            yield Bend(f"structs {', '.join(s.name[8:] for s in chosen)}", (_carried(*chosen),))
    for entry in whole:
        for count in (2, 16, 100):
            yield Bend(f"{entry.name[8:]} {count} times", (_carried(*[entry] * count),))


def _structs() -> Iterator[Bend]:
    """Codes that no table has, sizes and flags that lie."""
    for code in _CODES:
        for octets in (b"", b"\0\0", b"\xff" * 8):
            yield Bend(
                f"struct {code[0]}.{code[1]} of {octets.hex()}", (_carried(UnknownStruct(code, octets)),)
            )
    for name, fields in _GIVEN.items():
        whole = bytes(struct(name, fields))
        for size in (0, 1, 2, 4, len(whole) - 5, len(whole) - 3, 65_536, (1 << 31) - 1, (1 << 32) - 1):
            yield Bend(f"{name} of size {size}", (_carried(struct(name, fields, size=size)),))
        for flags in (0, 1, 0xFF, 0xFF00, 0xFFFF, 0x8000):
            yield Bend(f"{name} with flags {flags:04x}", (_carried(struct(name, fields, flags=flags)),))
        for count in range(len(whole)):
            yield Bend(f"{name} cut after {count} octets", (_carried(Raw(whole[:count])),))
        yield Bend(f"{name} with octets behind it", (_carried(struct(name, fields, extra=b"\0" * 4)),))


def _fields() -> Iterator[Bend]:
    """Every field of every struct at its edges."""
    for name in _STRUCTS:
        row = DIALECT.structs[name]
        for field in row.fields:
            kind = DIALECT.types_by_name.get(DIALECT.base(field.type))
            if kind is None or kind.name in ("bit", "map", "uuid"):
                continue
            given = {key: value for key, value in _GIVEN[name].items() if key != field.key}
            for words, value in _values(kind.name, kind.width_octets):
                yield Bend(f"{field.name}: {words}", (_carried(Packed(name, {**given, field.key: value})),))


def _values(kind: str, width_octets: int) -> Iterator[tuple[str, Any]]:
    if kind.startswith(("str", "vbin")):
        yield from ((words, sized(kind, text)) for words, text in TEXTS)
    else:
        numbers = range(256) if width_octets == 1 else edges(width_octets, -1)
        yield from ((str(number), Raw(number.to_bytes(width_octets, "big"))) for number in numbers)


def _coded(body: bytes, coding: str) -> bytes:
    return transfer(body, message={"content_encoding": coding})


def _lengths() -> Iterator[Bend]:
    """Lengths that the header announces, and another body; messages without one."""
    for length in (0, 1, 7, 8, 9, 1 << 20, (1 << 31) - 1, (1 << 63) - 1, (1 << 64) - 1):
        for body in (None, b"", b"amqpspec", b"x" * 10_000):
            octets = transfer(body, message={"content_length": length})
            yield Bend(f"content-length {length}, body of {len(body or b'')}", (octets,))
    nowhere = MAKER.value("destination", DIALECT.types_by_name["str8"], "")
    yield bend("no header at all", MAKER.alone(DIALECT.commands["message.transfer"], destination=nowhere))


def _modes() -> Iterator[Bend]:
    for accept in (0, 1, 2, 127, 255):
        for acquire in (0, 1, 2, 127, 255):
            octets = say(
                "message.transfer", destination="", accept_mode=accept, acquire_mode=acquire, body=b"x"
            )
            yield Bend(f"accept-mode {accept}, acquire-mode {acquire}", (octets,))
