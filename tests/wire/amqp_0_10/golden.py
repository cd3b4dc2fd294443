"""Octets of AMQP 0-10 written by hand from the text (4.4, 5.2, 5.3, 5.7 to 5.9, 7); no codec had a part in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, UnknownStruct, Value

GREETING = b"AMQP\x01\x01\x00\x0a"

VALUES: tuple[tuple[str, Any, str], ...] = (
    ("bin8", b"\x07", "07"),
    ("int8", -128, "80"),
    ("int8", 127, "7f"),
    ("uint8", 255, "ff"),
    ("char", "€", "a4"),
    ("boolean", True, "01"),
    ("boolean", False, "00"),
    ("bin16", b"\x01\x02", "0102"),
    ("int16", -2, "fffe"),
    ("uint16", 0x0102, "0102"),
    ("bin32", b"\x01\x02\x03\x04", "01020304"),
    ("int32", -(2**31), "80000000"),
    ("uint32", 2**32 - 1, "ffffffff"),
    ("float", 1.5, "3fc00000"),
    ("char-utf32", "€", "000020ac"),
    ("char-utf32", 0xD800, "0000d800"),
    ("char-utf32", 0x110000, "00110000"),
    ("sequence-no", 2**32 - 1, "ffffffff"),
    ("bin64", bytes(range(8)), "0001020304050607"),
    ("int64", -1, "ffffffffffffffff"),
    ("uint64", 2**64 - 1, "ffffffffffffffff"),
    ("double", -2.5, "c004000000000000"),
    ("datetime", 1_199_145_600, "00000000 47798280"),
    ("bin128", bytes(range(16)), "000102030405060708090a0b0c0d0e0f"),
    (
        "uuid",
        UUID("00112233-4455-6677-8899-aabbccddeeff"),
        "00112233 4455 6677 8899 aabbccddeeff",
    ),
    ("bin256", b"\x05" * 32, "05" * 32),
    ("bin512", b"\x06" * 64, "06" * 64),
    ("bin1024", b"\x07" * 128, "07" * 128),
    ("vbin8", b"", "00"),
    ("vbin8", b"\x01\x02", "02 0102"),
    ("str8-latin", "€é", "02 a4e9"),
    ("str8", "€", "03 e282ac"),
    ("str8", "\udcff", "01 ff"),
    ("str8-utf16", "€𝄞", "06 20ac d834dd1e"),
    ("str8-utf16", b"\x00", "01 00"),
    ("vbin16", b"\x01", "0001 01"),
    ("str16-latin", "a", "0001 61"),
    ("str16", "ab", "0002 6162"),
    ("str16-utf16", "a", "0002 0061"),
    ("byte-ranges", (), "0000"),
    ("byte-ranges", ((0, 9),), "0010 0000000000000000 0000000000000009"),
    ("sequence-set", (), "0000"),
    (
        "sequence-set",
        ((0, 2), (5, 6), (15, 15)),
        "0018 00000000 00000002 00000005 00000006 0000000f 0000000f",
    ),
    ("vbin32", b"abc", "00000003 616263"),
    ("map", Map(), "00000004 00000000"),
    (
        "map",
        Map((("a", Value("uint8", 1)), ("b", Value("str16", "x")), ("a", Value("void", None)))),
        "00000011 00000003 0161 02 01 0162 95 0001 78 0161 f0",
    ),
    ("list", (), "00000004 00000000"),
    (
        "list",
        (
            Value("boolean", True),
            Value("list", ()),
            Value("bit", True),
            Value(0x8F, b"\x09"),
            Value(0xC1, b"12345"),
        ),
        "00000019 00000005 08 01 a9 00000004 00000000 f1 8f 01 09 c1 3132333435",
    ),
    ("array", Array("uint16", ()), "00000005 12 00000000"),
    ("array", Array("uint16", (1, 2)), "00000009 12 00000002 0001 0002"),
    ("array", Array("void", (None, None)), "00000005 f0 00000002"),
    ("array", Array(0x9E, (b"a", b"")), "0000000a 9e 00000002 0001 61 0000"),
    ("struct32", Packed("dtx.xa-result", {"status": 7}), "00000006 06 01 01 00 0007"),
    ("struct32", Packed("message.acquired", {}), "00000004 04 04 00 00"),
    ("struct32", UnknownStruct((9, 9), b"\x01"), "00000003 09 09 01"),
    ("bin40", b"\x01\x02\x03\x04\x05", "0102030405"),
    ("dec32", (2, -12345), "02 ffffcfc7"),
    ("bin72", b"\x01" * 9, "01" * 9),
    ("dec64", (255, 1), "ff 0000000000000001"),
    ("void", None, ""),
    ("bit", True, ""),
    ("session.header", Packed("session.header", {"sync": True}), "01 01"),
    ("session.header", Packed("session.header", {}), "01 00"),
    (
        "session.command-fragment",
        Packed("session.command-fragment", {"command_id": 5, "byte_ranges": ((1, 2),)}),
        "00000005 0010 0000000000000001 0000000000000002",
    ),
    (
        "message.reply-to",
        Packed("message.reply-to", {"exchange": "e", "routing_key": "r"}),
        "0006 03 00 0165 0172",
    ),
    (
        "dtx.xid",
        Packed("dtx.xid", {"format": 1, "global_id": b"g", "branch_id": b""}),
        "0009 07 00 00000001 01 67 00",
    ),
    (
        "dtx.recover-result",
        Packed(
            "dtx.recover-result",
            {
                "in_doubt": Array(
                    "vbin16", (Packed("dtx.xid", {"format": 1, "global_id": b"g", "branch_id": b"b"}),)
                )
            },
        ),
        "00000019 06 03 01 00 00000011 90 00000001 000a 07 00 00000001 01 67 01 62",
    ),
)
"""A type or struct, a value as it is read, and its octets without a type code."""

CODES = (
    "bin8 00", "int8 01", "uint8 02", "char 04", "boolean 08", "bin16 10", "int16 11", "uint16 12", "bin32 20",
    "int32 21", "uint32 22", "float 23", "char-utf32 27", "bin64 30", "int64 31", "uint64 32", "double 33",
    "datetime 38", "bin128 40", "uuid 48", "bin256 50", "bin512 60", "bin1024 70", "vbin8 80", "str8-latin 84",
    "str8 85", "str8-utf16 86", "vbin16 90", "str16-latin 94", "str16 95", "str16-utf16 96", "vbin32 a0", "map a8",
    "list a9", "array aa", "struct32 ab", "bin40 c0", "dec32 c8", "bin72 d0", "dec64 d8", "void f0", "bit f1",
)  # fmt: skip
"""The code of every type that has one, in hex."""


@dataclass(frozen=True)
class Golden:
    """A control or a command with its arguments as they are read, and its segment."""

    name: str
    hex: str
    args: Mapping[str, Any] = field(default_factory=dict)
    sync: bool = False

    @property
    def octets(self) -> bytes:
        return bytes.fromhex(self.hex)


CONTROLS = (
    Golden(
        "connection.start",
        "0101 0600 0000000c 95 00000001 0005 504c41494e 0000000c 95 00000001 0005 656e5f5553",
        {"mechanisms": Array("str16", ("PLAIN",)), "locales": Array("str16", ("en_US",))},
    ),
    Golden(
        "connection.start-ok",
        "0102 0f00 00000004 00000000 05 504c41494e 0000000c 00 6775657374 00 6775657374 05 656e5f5553",
        {"client_properties": Map(), "mechanism": "PLAIN", "response": b"\0guest\0guest", "locale": "en_US"},
    ),
    Golden("connection.secure", "0103 0100 00000002 6869", {"challenge": b"hi"}),
    Golden("connection.secure-ok", "0104 0100 00000003 736563", {"response": b"sec"}),
    Golden(
        "connection.tune",
        "0105 0f00 00ff ffff 0000 0078",
        {"channel_max": 255, "max_frame_size": 65_535, "heartbeat_min": 0, "heartbeat_max": 120},
    ),
    Golden("connection.tune-ok", "0106 0300 00ff 1000", {"channel_max": 255, "max_frame_size": 4096}),
    Golden("connection.open", "0107 0500 01 2f", {"virtual_host": "/", "insist": True}),
    Golden("connection.open-ok", "0108 0000"),
    Golden("connection.heartbeat", "010a 0000"),
    Golden("connection.close", "010b 0300 00c8 02 4f4b", {"reply_code": 200, "reply_text": "OK"}),
    Golden("session.attach", "0201 0300 0001 73", {"name": b"s", "force": True}),
    Golden("session.attached", "0202 0100 0001 73", {"name": b"s"}),
    Golden("session.detached", "0204 0300 0001 73 01", {"name": b"s", "code": 1}),
    Golden("session.timeout", "0206 0100 ffffffff", {"timeout": 2**32 - 1}),
    Golden(
        "session.command-point",
        "0207 0300 ffffffff 0000000000000100",
        {"command_id": 2**32 - 1, "command_offset": 256},
    ),
    Golden(
        "session.expected",
        "0208 0300 0008 00000005 00000005"
        " 0000001d 90 00000001 0016 00000005 0010 0000000000000000 0000000000000009",
        {
            "commands": ((5, 5),),
            "fragments": Array(
                "vbin16", (Packed("session.command-fragment", {"command_id": 5, "byte_ranges": ((0, 9),)}),)
            ),
        },
    ),
    Golden(
        "session.completed",
        "020a 0300 0008 fffffffe 00000001",
        {"commands": ((2**32 - 2, 1),), "timely_reply": True},
    ),
    Golden("session.flush", "020c 0400", {"completed": True}),
)

COMMANDS = (
    Golden("execution.sync", "0301 0101 0000", sync=True),
    Golden(
        "execution.result",
        "0302 0100 0300 00000002 00000006 0601 0100 0000",
        {"command_id": 2, "value": Packed("dtx.xa-result", {"status": 0})},
    ),
    Golden(
        "execution.exception",
        "0303 0100 2300 0194 00000001 0003 666f6f",
        {"error_code": 404, "command_id": 1, "description": "foo"},
    ),
    Golden(
        "message.transfer",
        "0401 0101 0700 01 71 01 00",
        {"destination": "q", "accept_mode": 1, "acquire_mode": 0},
        sync=True,
    ),
    Golden("message.accept", "0402 0100 0100 0008 00000000 00000003", {"transfers": ((0, 3),)}),
    Golden(
        "message.reject",
        "0403 0100 0700 0008 00000001 00000001 0001 03 626164",
        {"transfers": ((1, 1),), "code": 1, "text": "bad"},
    ),
    Golden(
        "message.subscribe",
        "0407 0100 1f00 01 71 01 64 00 00",
        {"queue": "q", "destination": "d", "accept_mode": 0, "acquire_mode": 0, "exclusive": True},
    ),
    Golden("tx.select", "0501 0100 0000"),
    Golden(
        "dtx.start",
        "0602 0100 0300 000a 0700 00000001 01 67 01 62",
        {"xid": Packed("dtx.xid", {"format": 1, "global_id": b"g", "branch_id": b"b"}), "join": True},
    ),
    Golden(
        "exchange.bind",
        "0704 0100 0f00 01 71 01 65 01 6b 0000000b 00000001 0178 21 00000001",
        {"queue": "q", "exchange": "e", "binding_key": "k", "arguments": Map((("x", Value("int32", 1)),))},
    ),
    Golden(
        "queue.declare",
        "0801 0100 2900 01 71",
        {"queue": "q", "durable": True, "auto_delete": True},
    ),
)

HEADER = (
    Packed(
        "message.delivery-properties",
        {"redelivered": True, "priority": 4, "delivery_mode": 2, "exchange": "e", "routing_key": "q"},
    ),
    UnknownStruct((4, 99), b"\x00\x00"),
    Packed("message.fragment-properties", {"first": True, "last": True}),
    Packed(
        "message.message-properties",
        {
            "content_length": 5,
            "reply_to": Packed("message.reply-to", {"exchange": "e", "routing_key": "r"}),
            "content_type": "t",
        },
    ),
)
HEADER_OCTETS = tuple(
    map(
        bytes.fromhex,
        (
            "0000000a 0401 1c03 04 02 0165 0171",
            "00000004 0463 0000",
            "00000004 0402 0300",
            "00000016 0403 1900 0000000000000005 0006 0300 0165 0172 0174",
        ),
    )
)

CONTROL_FRAME = bytes.fromhex("0f 00 0010 00 00 0102 00000000 010a 0000")
"""connection.heartbeat on channel 258."""
TRANSFER_FRAMES = (
    bytes.fromhex("0b 01 0016 00 01 0007 00000000 0401 0100 0700 01 71 00 00"),
    bytes.fromhex("03 02 0014 00 01 0007 00000000 00000004 0402 0300"),
    bytes.fromhex("06 03 000e 00 01 0007 00000000 6865"),
    bytes.fromhex("05 03 000f 00 01 0007 00000000 6c6c6f"),
)
"""message.transfer to q on channel 7 with fragment-properties, and ``hello`` as its body in two frames."""
