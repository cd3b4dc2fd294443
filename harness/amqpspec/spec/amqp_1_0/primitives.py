"""The primitive types and their encodings: AMQP 1.0, Part 1.

Knows: constructor octets and widths. Must not know: how a value becomes octets.
"""

from __future__ import annotations

from amqpspec.spec.typed import Category, Encoding, Primitive


def _fixed(name: str, code: int, width_octets: int) -> Primitive:
    """A type with one encoding, which has its name."""
    return Primitive(name, (Encoding(name, code, Category.FIXED, width_octets),))


def _sized(name: str, small: str, large: str, code: int, category: Category) -> Primitive:
    """A type with sizes of one octet and of four; the codes of the two encodings differ by 0x10."""
    return Primitive(name, (Encoding(small, code, category, 1), Encoding(large, code + 0x10, category, 4)))


def _widths(name: str, *encodings: tuple[str, int, int]) -> Primitive:
    """A type with several fixed widths: names, codes and widths of its encodings."""
    return Primitive(
        name, tuple(Encoding(label, code, Category.FIXED, width) for label, code, width in encodings)
    )


PRIMITIVES = (
    _fixed("null", 0x40, 0),
    _widths("boolean", ("boolean1", 0x56, 1), ("true", 0x41, 0), ("false", 0x42, 0)),
    _fixed("ubyte", 0x50, 1),
    _fixed("ushort", 0x60, 2),
    _widths("uint", ("uint4", 0x70, 4), ("smalluint", 0x52, 1), ("uint0", 0x43, 0)),
    _widths("ulong", ("ulong8", 0x80, 8), ("smallulong", 0x53, 1), ("ulong0", 0x44, 0)),
    _fixed("byte", 0x51, 1),
    _fixed("short", 0x61, 2),
    _widths("int", ("int4", 0x71, 4), ("smallint", 0x54, 1)),
    _widths("long", ("long8", 0x81, 8), ("smalllong", 0x55, 1)),
    _fixed("float", 0x72, 4),
    _fixed("double", 0x82, 8),
    _fixed("decimal32", 0x74, 4),
    _fixed("decimal64", 0x84, 8),
    _fixed("decimal128", 0x94, 16),
    _fixed("char", 0x73, 4),
    _fixed("timestamp", 0x83, 8),
    _fixed("uuid", 0x98, 16),
    _sized("binary", "vbin8", "vbin32", 0xA0, Category.VARIABLE),
    _sized("string", "str8-utf8", "str32-utf8", 0xA1, Category.VARIABLE),
    _sized("symbol", "sym8", "sym32", 0xA3, Category.VARIABLE),
    Primitive(
        "list",
        (
            Encoding("list0", 0x45, Category.FIXED, 0),
            Encoding("list8", 0xC0, Category.COMPOUND, 1),
            Encoding("list32", 0xD0, Category.COMPOUND, 4),
        ),
    ),
    _sized("map", "map8", "map32", 0xC1, Category.COMPOUND),
    _sized("array", "array8", "array32", 0xE0, Category.ARRAY),
)
"""Every primitive type; the general encoding first."""
