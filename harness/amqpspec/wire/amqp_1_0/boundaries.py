"""Values at the edges of every primitive type, in every encoding, with their octets written out.

Knows: what is at an edge, and what is beyond it. Must not know: who uses it. The octets are literals of their own,
so that they can vouch for the codec.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from amqpspec.wire.amqp_1_0.values import Array, Raw, Symbol, Value


class Boundary(NamedTuple):
    """A value in one encoding with its octets; what is not ``legal`` breaks the type's definition."""

    type: str
    value: Value
    octets: bytes
    legal: bool = True


def _row(kind: str, encoding: str, value: Any, octets: str, legal: bool = True) -> Boundary:
    return Boundary(kind, Value(encoding, value), bytes.fromhex(octets), legal)


def _long(kind: str, encoding: str, value: Any, head: str, body: bytes) -> Boundary:
    return Boundary(kind, Value(encoding, value), bytes.fromhex(head) + body)


def _odd(kind: str, encoding: str, octets: str) -> Boundary:
    raw = bytes.fromhex(octets)
    return Boundary(kind, Value(encoding, Raw(raw[1:])), raw, False)


_HIGH, _LOW = UUID(int=(1 << 128) - 1), UUID(int=0)

FIXED: tuple[Boundary, ...] = (
    _row("null", "null", None, "40"),
    _row("boolean", "true", True, "41"),
    _row("boolean", "false", False, "42"),
    _row("boolean", "boolean1", True, "5601"),
    _row("boolean", "boolean1", False, "5600"),
    _row("ubyte", "ubyte", 0, "5000"),
    _row("ubyte", "ubyte", 255, "50ff"),
    _row("ushort", "ushort", 0, "600000"),
    _row("ushort", "ushort", 65_535, "60ffff"),
    _row("uint", "uint0", 0, "43"),
    _row("uint", "smalluint", 0, "5200"),
    _row("uint", "smalluint", 255, "52ff"),
    _row("uint", "uint4", 0, "7000000000"),
    _row("uint", "uint4", 256, "7000000100"),
    _row("uint", "uint4", 2**31, "7080000000"),
    _row("uint", "uint4", 2**32 - 1, "70ffffffff"),
    _row("ulong", "ulong0", 0, "44"),
    _row("ulong", "smallulong", 0, "5300"),
    _row("ulong", "smallulong", 255, "53ff"),
    _row("ulong", "ulong8", 0, "800000000000000000"),
    _row("ulong", "ulong8", 2**63, "808000000000000000"),
    _row("ulong", "ulong8", 2**64 - 1, "80ffffffffffffffff"),
    _row("byte", "byte", -128, "5180"),
    _row("byte", "byte", -1, "51ff"),
    _row("byte", "byte", 127, "517f"),
    _row("short", "short", -32_768, "618000"),
    _row("short", "short", 32_767, "617fff"),
    _row("int", "smallint", -128, "5480"),
    _row("int", "smallint", 127, "547f"),
    _row("int", "int4", -(2**31), "7180000000"),
    _row("int", "int4", 0, "7100000000"),
    _row("int", "int4", 2**31 - 1, "717fffffff"),
    _row("long", "smalllong", -128, "5580"),
    _row("long", "smalllong", 127, "557f"),
    _row("long", "long8", -(2**63), "818000000000000000"),
    _row("long", "long8", 0, "810000000000000000"),
    _row("long", "long8", 2**63 - 1, "817fffffffffffffff"),
    _row("float", "float", 0.0, "7200000000"),
    _row("float", "float", -1.5, "72bfc00000"),
    _row("float", "float", float("inf"), "727f800000"),
    _row("double", "double", -0.0, "828000000000000000"),
    _row("double", "double", float("-inf"), "82fff0000000000000"),
    _row("double", "double", 1.7976931348623157e308, "827fefffffffffffff"),
    _row("double", "double", 5e-324, "820000000000000001"),
    _row("decimal32", "decimal32", bytes.fromhex("22500000"), "7422500000"),
    _row("decimal64", "decimal64", bytes.fromhex("2238000000000000"), "842238000000000000"),
    _row("decimal128", "decimal128", bytes.fromhex("22080000" + 12 * "00"), "9422080000" + 12 * "00"),
    _row("char", "char", "\0", "7300000000"),
    _row("char", "char", "\ud7ff", "730000d7ff"),
    _row("char", "char", "\ue000", "730000e000"),
    _row("char", "char", "\U0010ffff", "730010ffff"),
    _row("timestamp", "timestamp", 0, "830000000000000000"),
    _row("timestamp", "timestamp", -(2**63), "838000000000000000"),
    _row("timestamp", "timestamp", 2**63 - 1, "837fffffffffffffff"),
    _row("uuid", "uuid", _LOW, "98" + 16 * "00"),
    _row("uuid", "uuid", _HIGH, "98" + 16 * "ff"),
)

VARIABLE: tuple[Boundary, ...] = (
    _row("binary", "vbin8", b"", "a000"),
    _row("binary", "vbin8", b"\x00\xff", "a00200ff"),
    _long("binary", "vbin8", b"\xaa" * 255, "a0ff", b"\xaa" * 255),
    _row("binary", "vbin32", b"", "b000000000"),
    _long("binary", "vbin32", b"\xaa" * 256, "b000000100", b"\xaa" * 256),
    _row("string", "str8-utf8", "", "a100"),
    _row("string", "str8-utf8", "\0", "a10100"),
    _row("string", "str8-utf8", "ß€\U0001f600", "a109c39fe282acf09f9880"),
    _long("string", "str8-utf8", "x" * 255, "a1ff", b"x" * 255),
    _row("string", "str32-utf8", "", "b100000000"),
    _long("string", "str32-utf8", "x" * 256, "b100000100", b"x" * 256),
    _row("symbol", "sym8", Symbol(""), "a300"),
    _row("symbol", "sym8", Symbol("a:b"), "a303613a62"),
    _long("symbol", "sym8", Symbol("x" * 255), "a3ff", b"x" * 255),
    _row("symbol", "sym32", Symbol(""), "b300000000"),
    _long("symbol", "sym32", Symbol("x" * 256), "b300000100", b"x" * 256),
)

COMPOUND: tuple[Boundary, ...] = (
    _row("list", "list0", [], "45"),
    _row("list", "list8", [], "c00100"),
    _row("list", "list8", [Value("null", None)], "c0020140"),
    _long("list", "list8", [Value("null", None)] * 254, "c0fffe", b"\x40" * 254),
    _row("list", "list32", [], "d00000000400000000"),
    _long("list", "list32", [Value("null", None)] * 256, "d00000010400000100", b"\x40" * 256),
    _row("map", "map8", (), "c10100"),
    _row("map", "map8", ((Value("sym8", Symbol("k")), Value("true", True)),), "c10502a3016b41"),
    _row("map", "map32", (), "d10000000400000000"),
    _row("array", "array8", Array("sym8", []), "e00200a3"),
    _row("array", "array8", Array("sym8", [Symbol("a"), Symbol("")]), "e00502a3016100"),
    _row("array", "array8", Array("true", [True, True]), "e0020241"),
    _row("array", "array8", Array("uint4", [1], (Value("smallulong", 9),)), "e009010053097000000001"),
    _row("array", "array32", Array("ubyte", [1, 2]), "f000000007000000025001" + "02"),
    _row("array", "array32", Array("null", [None] * 3), "f0000000050000000340"),
)

ILLEGAL: tuple[Boundary, ...] = (
    _odd("boolean", "boolean1", "5602"),
    _odd("char", "char", "730000d800"),
    _odd("char", "char", "7300110000"),
    _odd("string", "str8-utf8", "a101ff"),
    _odd("string", "str8-utf8", "a102c080"),
    _odd("string", "str8-utf8", "a103eda080"),
    _odd("symbol", "sym8", "a30180"),
    _odd("map", "map8", "c1020140"),
    _odd("map", "map8", "c10904a3016b41a3016b42"),
    _odd("list", "list8", "c0020240"),
    _odd("list", "list8", "c0030140"),
    _odd("list", "list8", "c000"),
    _odd("array", "array8", "e00100"),
    _odd("array", "array8", "e0020301"),
    _odd("binary", "vbin32", "b0ffffffff"),
)
"""What breaks a type: values that it does not have, sizes and counts that do not fit what follows."""

BOUNDARIES: tuple[Boundary, ...] = FIXED + VARIABLE + COMPOUND + ILLEGAL
