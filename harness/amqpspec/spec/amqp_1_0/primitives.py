"""The primitive types and their encodings: AMQP 1.0, Part 1.

Knows: constructor octets and widths. Must not know: how a value becomes octets.
"""

from __future__ import annotations

from amqpspec.spec.typed import Category, Encoding, Primitive

PRIMITIVES = (
    Primitive("null", (Encoding("null", 0x40, Category.FIXED, 0),)),
    Primitive(
        "boolean",
        (
            Encoding("boolean1", 0x56, Category.FIXED, 1),
            Encoding("true", 0x41, Category.FIXED, 0),
            Encoding("false", 0x42, Category.FIXED, 0),
        ),
    ),
    Primitive("ubyte", (Encoding("ubyte", 0x50, Category.FIXED, 1),)),
    Primitive("ushort", (Encoding("ushort", 0x60, Category.FIXED, 2),)),
    Primitive(
        "uint",
        (
            Encoding("uint4", 0x70, Category.FIXED, 4),
            Encoding("smalluint", 0x52, Category.FIXED, 1),
            Encoding("uint0", 0x43, Category.FIXED, 0),
        ),
    ),
    Primitive(
        "ulong",
        (
            Encoding("ulong8", 0x80, Category.FIXED, 8),
            Encoding("smallulong", 0x53, Category.FIXED, 1),
            Encoding("ulong0", 0x44, Category.FIXED, 0),
        ),
    ),
    Primitive("byte", (Encoding("byte", 0x51, Category.FIXED, 1),)),
    Primitive("short", (Encoding("short", 0x61, Category.FIXED, 2),)),
    Primitive(
        "int",
        (
            Encoding("int4", 0x71, Category.FIXED, 4),
            Encoding("smallint", 0x54, Category.FIXED, 1),
        ),
    ),
    Primitive(
        "long",
        (
            Encoding("long8", 0x81, Category.FIXED, 8),
            Encoding("smalllong", 0x55, Category.FIXED, 1),
        ),
    ),
    Primitive("float", (Encoding("float", 0x72, Category.FIXED, 4),)),
    Primitive("double", (Encoding("double", 0x82, Category.FIXED, 8),)),
    Primitive("decimal32", (Encoding("decimal32", 0x74, Category.FIXED, 4),)),
    Primitive("decimal64", (Encoding("decimal64", 0x84, Category.FIXED, 8),)),
    Primitive("decimal128", (Encoding("decimal128", 0x94, Category.FIXED, 16),)),
    Primitive("char", (Encoding("char", 0x73, Category.FIXED, 4),)),
    Primitive("timestamp", (Encoding("timestamp", 0x83, Category.FIXED, 8),)),
    Primitive("uuid", (Encoding("uuid", 0x98, Category.FIXED, 16),)),
    Primitive(
        "binary",
        (
            Encoding("vbin8", 0xA0, Category.VARIABLE, 1),
            Encoding("vbin32", 0xB0, Category.VARIABLE, 4),
        ),
    ),
    Primitive(
        "string",
        (
            Encoding("str8-utf8", 0xA1, Category.VARIABLE, 1),
            Encoding("str32-utf8", 0xB1, Category.VARIABLE, 4),
        ),
    ),
    Primitive(
        "symbol",
        (
            Encoding("sym8", 0xA3, Category.VARIABLE, 1),
            Encoding("sym32", 0xB3, Category.VARIABLE, 4),
        ),
    ),
    Primitive(
        "list",
        (
            Encoding("list0", 0x45, Category.FIXED, 0),
            Encoding("list8", 0xC0, Category.COMPOUND, 1),
            Encoding("list32", 0xD0, Category.COMPOUND, 4),
        ),
    ),
    Primitive(
        "map",
        (
            Encoding("map8", 0xC1, Category.COMPOUND, 1),
            Encoding("map32", 0xD1, Category.COMPOUND, 4),
        ),
    ),
    Primitive(
        "array",
        (
            Encoding("array8", 0xE0, Category.ARRAY, 1),
            Encoding("array32", 0xF0, Category.ARRAY, 4),
        ),
    ),
)
"""Every primitive type; the general encoding first."""
