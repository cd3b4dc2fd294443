"""What AMQP 0-10 is made of below its classes: types and their codes, common domains, frames, codes of refusals.

Knows: the form of each type, the ranges of type codes, the octets around a payload, and what each code ends.
Must not know: how a value is encoded, and any control or command.

The framing chapter is missing from the XML, which has the two domains ``segment-type`` and ``track`` of it; the rest is
from the published document (4.2 to 4.4, 5.2). Its table of type codes leaves 0xB0 out; the layout of the bits puts it
with the reserved ones.
"""

from __future__ import annotations

from types import MappingProxyType

from amqpspec.spec.assemblies import (
    AssemblyLayout,
    Category,
    CodeDomain,
    CodeRange,
    Constant,
    Content,
    Domain,
    WireType,
)
from amqpspec.spec.model import Scope
from amqpspec.spec.typed import choices

PROTOCOL_HEADER = b"AMQP\x01\x01\x00\x0a"
"""Protocol class 1, instance 1 (TCP), major 0, minor 10."""

TYPES = (
    WireType("bin8", 0x00, Category.FIXED, 1, Content.OPAQUE),
    WireType("int8", 0x01, Category.FIXED, 1, Content.SIGNED),
    WireType("uint8", 0x02, Category.FIXED, 1, Content.UNSIGNED),
    WireType("char", 0x04, Category.FIXED, 1, Content.LATIN),
    WireType("boolean", 0x08, Category.FIXED, 1, Content.BOOLEAN),
    WireType("bin16", 0x10, Category.FIXED, 2, Content.OPAQUE),
    WireType("int16", 0x11, Category.FIXED, 2, Content.SIGNED),
    WireType("uint16", 0x12, Category.FIXED, 2, Content.UNSIGNED),
    WireType("bin32", 0x20, Category.FIXED, 4, Content.OPAQUE),
    WireType("int32", 0x21, Category.FIXED, 4, Content.SIGNED),
    WireType("uint32", 0x22, Category.FIXED, 4, Content.UNSIGNED),
    WireType("float", 0x23, Category.FIXED, 4, Content.FLOAT),
    WireType("char-utf32", 0x27, Category.FIXED, 4, Content.UTF32),
    WireType("sequence-no", None, Category.FIXED, 4, Content.SERIAL),
    WireType("bin64", 0x30, Category.FIXED, 8, Content.OPAQUE),
    WireType("int64", 0x31, Category.FIXED, 8, Content.SIGNED),
    WireType("uint64", 0x32, Category.FIXED, 8, Content.UNSIGNED),
    WireType("double", 0x33, Category.FIXED, 8, Content.FLOAT),
    WireType("datetime", 0x38, Category.FIXED, 8, Content.TIME),
    WireType("bin128", 0x40, Category.FIXED, 16, Content.OPAQUE),
    WireType("uuid", 0x48, Category.FIXED, 16, Content.UUID),
    WireType("bin256", 0x50, Category.FIXED, 32, Content.OPAQUE),
    WireType("bin512", 0x60, Category.FIXED, 64, Content.OPAQUE),
    WireType("bin1024", 0x70, Category.FIXED, 128, Content.OPAQUE),
    WireType("vbin8", 0x80, Category.VARIABLE, 1, Content.OPAQUE),
    WireType("str8-latin", 0x84, Category.VARIABLE, 1, Content.LATIN),
    WireType("str8", 0x85, Category.VARIABLE, 1, Content.UTF8),
    WireType("str8-utf16", 0x86, Category.VARIABLE, 1, Content.UTF16),
    WireType("vbin16", 0x90, Category.VARIABLE, 2, Content.OPAQUE),
    WireType("str16-latin", 0x94, Category.VARIABLE, 2, Content.LATIN),
    WireType("str16", 0x95, Category.VARIABLE, 2, Content.UTF8),
    WireType("str16-utf16", 0x96, Category.VARIABLE, 2, Content.UTF16),
    WireType("byte-ranges", None, Category.VARIABLE, 2, Content.BYTE_RANGES),
    WireType("sequence-set", None, Category.VARIABLE, 2, Content.SEQUENCE_SET),
    WireType("vbin32", 0xA0, Category.VARIABLE, 4, Content.OPAQUE),
    WireType("map", 0xA8, Category.VARIABLE, 4, Content.MAP),
    WireType("list", 0xA9, Category.VARIABLE, 4, Content.LIST),
    WireType("array", 0xAA, Category.VARIABLE, 4, Content.ARRAY),
    WireType("struct32", 0xAB, Category.VARIABLE, 4, Content.STRUCT),
    WireType("bin40", 0xC0, Category.FIXED, 5, Content.OPAQUE),
    WireType("dec32", 0xC8, Category.FIXED, 5, Content.DECIMAL),
    WireType("bin72", 0xD0, Category.FIXED, 9, Content.OPAQUE),
    WireType("dec64", 0xD8, Category.FIXED, 9, Content.DECIMAL),
    WireType("void", 0xF0, Category.FIXED, 0, Content.VOID),
    WireType("bit", 0xF1, Category.FIXED, 0, Content.BIT),
)
"""Every type; those without a code occur in fields only."""

CODE_RANGES = (
    CodeRange(0x00, 0x0F, Category.FIXED, 1),
    CodeRange(0x10, 0x1F, Category.FIXED, 2),
    CodeRange(0x20, 0x2F, Category.FIXED, 4),
    CodeRange(0x30, 0x3F, Category.FIXED, 8),
    CodeRange(0x40, 0x4F, Category.FIXED, 16),
    CodeRange(0x50, 0x5F, Category.FIXED, 32),
    CodeRange(0x60, 0x6F, Category.FIXED, 64),
    CodeRange(0x70, 0x7F, Category.FIXED, 128),
    CodeRange(0x80, 0x8F, Category.VARIABLE, 1),
    CodeRange(0x90, 0x9F, Category.VARIABLE, 2),
    CodeRange(0xA0, 0xAF, Category.VARIABLE, 4),
    CodeRange(0xC0, 0xCF, Category.FIXED, 5),
    CodeRange(0xD0, 0xDF, Category.FIXED, 9),
    CodeRange(0xF0, 0xFF, Category.FIXED, 0),
)
"""Widths that follow from a type code; 0xB0 to 0xBF and 0xE0 to 0xEF are reserved."""

CONSTANTS = (Constant("MIN-MAX-FRAME-SIZE", 4096),)

SEGMENT_TYPES = MappingProxyType({"control": 0, "command": 1, "header": 2, "body": 3})
TRACKS = MappingProxyType({"control": 0, "command": 1})

COMMON_DOMAINS = (
    Domain("segment-type", "uint8", choices(SEGMENT_TYPES)),
    Domain("track", "uint8", choices(TRACKS)),
    Domain("str16-array", "array", element="str16"),
)

LAYOUT = AssemblyLayout(
    header=(
        ("flags", 1),
        ("type", 1),
        ("size", 2),
        ("reserved-1", 1),
        ("track", 1),
        ("channel", 2),
        ("reserved-2", 4),
    ),
    flags=MappingProxyType(
        {"first-segment": 0x08, "last-segment": 0x04, "first-frame": 0x02, "last-frame": 0x01}
    ),
    version_mask=0xC0,
    reserved_flags=0x30,
    track_mask=0x0F,
    types=SEGMENT_TYPES,
    tracks=TRACKS,
    min_max_frame_size=4096,
    arguments_pack_octets=2,
)

CODE_DOMAINS = (
    CodeDomain("connection.close-code", Scope.CONNECTION),
    CodeDomain("execution.error-code", Scope.SESSION),
    CodeDomain("session.detach-code", Scope.SESSION, by_name=True),
    CodeDomain("message.reject-code", Scope.DELIVERY, by_name=True),
)
"""What refusals carry: connection.close, execution.exception, session.detached and message.reject."""
