"""Field tables: names with values of four types.

Knows: the meaning of each tag. Must not know: commands, which tables there are. Bounded: a table cannot announce
more octets than are there, and none of its values holds another one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.primitives import extent_at, to_octets, to_text
from amqpspec.wire.errors import EncodeError, shown, too_short, unreadable
from amqpspec.wire.numbers import pack_counted
from amqpspec.wire.values import Raw, Table, Typed

_NAME_OCTETS = DIALECT.types_by_name["shortstr"].length_octets
_STRING_OCTETS = DIALECT.types_by_name["longstr"].length_octets
_TABLE_OCTETS = DIALECT.types_by_name["table"].length_octets
_PRIMITIVES = {tag.tag: tag.primitive for tag in DIALECT.table_tags}
_TAGS = {primitive: tag for tag, primitive in _PRIMITIVES.items()}
# Integers have a sign, and so has the mantissa of a decimal; a time is a plain number of seconds.
_FORMS = {
    "int32": struct.Struct(">i"),
    "decimal": struct.Struct(">Bi"),
    "time32": struct.Struct(">I"),
}
_EXPECTED = {
    "int32": "an integer from -2147483648 to 2147483647",
    "decimal": "a pair of decimals (0 to 255) and mantissa (-2147483648 to 2147483647)",
    "time32": "seconds from 0 to 4294967295",
}
_USUAL: tuple[tuple[type, str], ...] = (
    (str, "longstr"),
    (bytes, "longstr"),
    (int, "int32"),
    (tuple, "decimal"),
)


# --- reading


def table_between(octets: bytes, at: int, stop: int, where: str) -> Table:
    """The fields that fill the octets from ``at`` to ``stop``; raises WireError."""
    fields: list[tuple[str, Typed]] = []
    while at < stop:
        tag_at = at + _NAME_OCTETS + octets[at]
        if tag_at >= stop:
            expected = f"a name and a value within the {stop - at} octets left of the table"
            raise unreadable(f"{where}: field name", octets, at, expected, f"name of {octets[at]} octets")
        name = to_text(octets[at + _NAME_OCTETS : tag_at])
        typed, at = _value(octets, tag_at, stop, f"{where}: field value")
        fields.append((name, typed))
    return Table(fields)


def _value(octets: bytes, at: int, stop: int, where: str) -> tuple[Typed, int]:
    tag = chr(octets[at])
    primitive = _PRIMITIVES.get(tag)
    if primitive is None:
        tags = "".join(_PRIMITIVES)
        raise unreadable(where, octets, at, f"a type tag of {tags}", f"tag 0x{octets[at]:02x}")
    at += 1
    if primitive == "longstr":
        start, end = extent_at(octets, at, _STRING_OCTETS, stop, where)
        return Typed(tag, octets[start:end]), end
    form = _FORMS[primitive]
    if at + form.size > stop:
        raise too_short(where, octets, at, form.size, stop)
    values = form.unpack_from(octets, at)
    return Typed(tag, values[0] if len(values) == 1 else values), at + form.size


# --- writing


def encode_table(table: Any, where: str = "table") -> bytes:
    """A table with its length; the values of a mapping get their usual tags. ``Raw`` replaces the whole table.

    A string is S, an integer I, a pair of decimals and mantissa D; a time has to say its tag. EncodeError for a name or
    a value that cannot be written.
    """
    if isinstance(table, Raw):
        return bytes(table)
    try:
        pairs = tuple(table.items() if isinstance(table, Mapping) else table)
        return pack_counted(_fields(pairs, where), _TABLE_OCTETS, where)
    except EncodeError:
        raise
    except (TypeError, ValueError) as error:
        raise EncodeError(where, "a table or a mapping", shown(table)) from error


def _fields(pairs: Iterable[tuple[Any, Any]], where: str) -> bytes:
    octets = bytearray()
    for name, value in pairs:
        place = f"{where} › {shown(name)}"
        octets += name if isinstance(name, Raw) else pack_counted(to_octets(name, place), _NAME_OCTETS, place)
        octets += encode_value(value, place)
    return bytes(octets)


def encode_value(value: Any, where: str = "field value") -> bytes:
    """Tag and value: ``Raw`` replaces both, ``Typed`` has its own tag, which is any one with ``Raw`` after it."""
    if isinstance(value, Raw):
        return bytes(value)
    tag, plain = value if isinstance(value, Typed) else (_usual_tag(value, where), value)
    octet = to_octets(tag, where)
    if isinstance(plain, Raw):
        return octet + plain
    primitive = _PRIMITIVES.get(tag)
    if primitive is None:
        raise EncodeError(where, f"a type tag of {''.join(_PRIMITIVES)}, or Raw octets", f"tag {tag!r}")
    if primitive == "longstr":
        return octet + pack_counted(to_octets(plain, where), _STRING_OCTETS, where)
    try:
        return octet + _FORMS[primitive].pack(*(plain if primitive == "decimal" else (plain,)))
    except (struct.error, TypeError) as error:
        raise EncodeError(where, _EXPECTED[primitive], shown(plain)) from error


def _usual_tag(value: Any, where: str) -> str:
    for kind, primitive in _USUAL:
        if isinstance(value, kind):
            return _TAGS[primitive]
    raise EncodeError(where, "a string, an integer, a decimal, or a value with its tag", shown(value))
