"""Faults in the segments of outgoing transfers.

Knows: structs, maps, values. Must not know: subscriptions, sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Category
from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, UnknownStruct, Value
from amqpspec.wire.amqp_0_10.writing import encode_struct
from amqpspec.wire.values import Raw

Faulty = Callable[[str], bool]
_LEAST_OCTETS = 12
_COMPOUND = ("map", "list", "array")


def header(entries: Iterable[Any], faulty: Faulty) -> list[Any]:
    """The structs of a header segment."""
    if faulty("unknown-structs-dropped"):
        entries = [entry for entry in entries if not isinstance(entry, UnknownStruct)]
    return [_struct(entry, faulty) for entry in entries]


def body(octets: bytes, faulty: Faulty) -> bytes:
    """The body segment."""
    return octets[: 1 << 16] if faulty("bodies-cut-at-64k") else octets


def pieces(structs: list[Any], octets: bytes, faulty: Faulty) -> list[tuple[list[Any], bytes]]:
    """The transfers for a message: one, without a fault."""
    if not faulty("fragments-carry-all-properties") or len(octets) < _LEAST_OCTETS:
        return [(structs, octets)]
    half = len(octets) // 2
    first, last = (Packed("message.fragment-properties", {key: True}) for key in ("first", "last"))
    return [([*structs, first], octets[:half]), ([*structs, last], octets[half:])]


def _struct(entry: Any, faulty: Faulty) -> Any:
    if not isinstance(entry, Packed):
        return entry
    row, fields = DIALECT.structs[entry.name], {k: _field(v, faulty) for k, v in entry.fields.items()}
    if faulty("empty-fields-left-out"):
        fields = {key: value for key, value in fields.items() if value not in (b"", "")}
    if faulty("absent-fields-filled-in") and entry.name == "message.message-properties":
        fields = {"content_type": "", **fields}
    if faulty("struct-codes-swapped"):
        assert row.code is not None
        return Raw(encode_struct(row, fields, code=(row.code[1] + 100, row.code[0])))
    if faulty("struct-sizes-count-themselves"):
        return Raw(encode_struct(row, fields, size=len(encode_struct(row, fields))))
    if faulty("packing-flags-swapped"):
        octets = encode_struct(row, fields)
        return Raw(octets[:6] + octets[7:5:-1] + octets[8:])
    return Packed(entry.name, fields)


def _field(value: Any, faulty: Faulty) -> Any:
    return Map((key, _value(entry, faulty)) for key, entry in value) if isinstance(value, Map) else value


def _value(value: Value, faulty: Faulty) -> Value:
    row = DIALECT.types_by_name.get(value.type) if isinstance(value.type, str) else None
    if row is None:
        return value
    if row.name in _COMPOUND:
        emptied: Any = Array("void", (None,)) if row.name == "array" else ()
        return Value(value.type, emptied) if faulty("compound-values-emptied") else value
    if row.category is Category.VARIABLE:
        return Value(value.type, value.value[1:]) if faulty("first-octets-of-values-lost") else value
    if row.width_octets == 0:
        return Value("uint8", 0) if faulty("void-becomes-a-number") else value
    spoilt = Raw(b"\x05" * row.width_octets)
    return (
        Value(value.type, spoilt)
        if faulty("fixed-values-spoilt") and row.name != "boolean"
        else _boolean(value, faulty)
    )


def _boolean(value: Value, faulty: Faulty) -> Value:
    negated = value.type == "boolean" and faulty("booleans-negated")
    return Value("boolean", not value.value) if negated else value


FAULTS = fault_table("""
fragments-carry-all-properties: a message is sent in two fragments that both contain its properties
    [message/fragment-properties/first-only]
bodies-cut-at-64k: bodies end after 65,536 octets [encoding/body-segment/opaque]
unknown-structs-dropped: structs of unknown codes are not passed on [encoding/header-segment/unknown-entry]
empty-fields-left-out: empty fields are not passed on [encoding/packing/present]
absent-fields-filled-in: an absent content-type arrives as an empty one [encoding/packing/absent]
struct-codes-swapped: structs of a header segment carry wrong codes [encoding/struct/code]
struct-sizes-count-themselves: the size of a struct counts itself [encoding/struct/size type/struct32]
packing-flags-swapped: the octets of packing flags are swapped [encoding/packing/order]
fixed-values-spoilt: fixed-width values in maps arrive changed [type/bin8 type/int8 type/uint8 type/char
    type/bin16 type/int16 type/uint16 type/bin32 type/int32 type/uint32 type/float type/char-utf32 type/bin64
    type/int64 type/uint64 type/double type/datetime type/bin128 type/uuid type/bin256 type/bin512 type/bin1024
    type/bin40 type/dec32 type/bin72 type/dec64 encoding/map/all-types-round-trip]
first-octets-of-values-lost: strings in maps arrive without their first octet [type/vbin8 type/str8-latin type/str8
    type/str8-utf16 type/vbin16 type/str16-latin type/str16 type/str16-utf16 type/vbin32
    encoding/map/all-types-round-trip]
compound-values-emptied: maps, lists and arrays within maps arrive empty [type/map type/list type/array
    encoding/map/all-types-round-trip]
void-becomes-a-number: a void in a map arrives as zero [type/void encoding/map/all-types-round-trip]
booleans-negated: booleans in maps arrive negated [type/boolean encoding/map/all-types-round-trip]
""")
