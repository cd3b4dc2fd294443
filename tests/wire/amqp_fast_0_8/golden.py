"""Octets of AMQP/Fast written by hand from the text of AMQ RFC 006, and the opening of the Perl client of 2005.

Nothing here comes from our codec: each row is a frame with the fragment after it, as it is in the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.wire.values import Typed


@dataclass(frozen=True)
class Golden:
    """A command by its fields, and its frame in hex; fields that are left out are zero or empty."""

    name: str
    fields: Mapping[str, Any]
    frame_hex: str
    fragment: bytes = b""
    by_client: bool = False

    @property
    def frame(self) -> bytes:
        return bytes.fromhex(self.frame_hex)

    @property
    def octets(self) -> bytes:
        return self.frame + self.fragment

    @property
    def payload(self) -> bytes:
        """The octets between code and end octet."""
        return self.frame[3:-1]


LOGIN = "05 4c4f47494e 53 0005 6775657374 08 50415353574f5244 53 0005 6775657374"

# What the Perl client opens with, frame by frame; a client name and a password were filled in.
CLIENT = (
    Golden(
        "connection.response",
        {"mechanism": "PLAIN", "responses": {"LOGIN": "guest", "PASSWORD": "guest"}},
        f"0029 0b 05 504c41494e 001f {LOGIN} ce",
    ),
    Golden("connection.tune", {}, "0006 0c 0000 0000 ce"),
    Golden(
        "connection.open",
        {"confirm_tag": 1, "virtual_path": "/test", "client_name": "cli"},
        "0010 0d 0001 05 2f74657374 03 636c69 0000 ce",
    ),
    Golden("channel.open", {"channel_id": 1, "confirm_tag": 2}, "000a 14 0001 0002 00 0000 00 ce"),
    Golden(
        "handle.open",
        {"channel_id": 1, "handle_id": 1, "confirm_tag": 3, "producer": True, "consumer": True},
        "000d 1e 0001 0001 0003 03 00 00 0000 ce",
    ),
    Golden(
        "handle.consume",
        {
            "handle_id": 1, "confirm_tag": 4, "service_type": 1, "prefetch": 1, "dynamic": True, "dest_name": "q",
        },
        "000f 20 0001 0004 0001 0001 04 01 71 0000 ce",
    ),
)  # fmt: skip
GREETING = b"\x80\x01"

COMMANDS = (
    *CLIENT,
    Golden(
        "connection.challenge",
        {"version": 1, "mechanisms": "PLAIN"},
        "000b 0a 01 05 504c41494e 0000 ce",
    ),
    Golden(
        "connection.tune",
        {"options": {"FRAME_MAX": 0x8000}, "dictionary": {"ET": "Expiration-Time"}},
        "002a 0c 000f 09 4652414d455f4d4158 49 00008000"
        " 0015 02 4554 53 000f 45787069726174696f6e2d54696d65 ce",
    ),
    Golden("connection.ping", {}, "0003 0e 00 ce"),
    Golden("connection.ping", {"respond": True}, "0003 0e 01 ce"),
    Golden(
        "connection.reply",
        {"confirm_tag": 1, "reply_code": 200, "reply_text": "OK"},
        "0009 12 0001 00c8 02 4f4b ce",
    ),
    Golden("connection.close", {"reply_code": 320, "reply_text": "bye"}, "0008 13 0140 03 627965 ce"),
    Golden(
        "channel.open",
        {"channel_id": 2, "transacted": True, "restartable": True, "out_of_band": "shm"},
        "000d 14 0002 0000 03 0000 03 73686d ce",
    ),
    Golden("channel.ack", {"channel_id": 1, "message_nbr": 7}, "000a 15 0001 0000 00000007 ce"),
    Golden("channel.commit", {"channel_id": 1, "confirm_tag": 5}, "0008 16 0001 0005 0000 ce"),
    Golden("channel.rollback", {"channel_id": 1, "confirm_tag": 6}, "0008 17 0001 0006 0000 ce"),
    Golden(
        "channel.reply",
        {"channel_id": 1, "confirm_tag": 2, "reply_code": 200},
        "0009 1c 0001 0002 00c8 00 ce",
    ),
    Golden(
        "channel.close",
        {"channel_id": 1, "reply_code": 504, "reply_text": "no!"},
        "000a 1d 0001 01f8 03 6e6f21 ce",
    ),
    Golden(
        "handle.send",
        {"handle_id": 1, "confirm_tag": 9, "service_type": 3, "partial": True, "dest_name": "q1"},
        "0010 1f 0001 0009 0003 00000005 01 02 7131 ce",
        b"hello",
    ),
    Golden(
        "handle.send",
        {"handle_id": 1, "service_type": 1, "fragment_size": 10, "out_of_band": True},
        "000e 1f 0001 0000 0001 0000000a 02 00 ce",
    ),
    Golden(
        "handle.consume",
        {
            "handle_id": 258, "service_type": 2, "prefetch": 65535, "no_local": True, "no_ack": True,
            "exclusive": True, "selector": {"a": Typed("T", 1)},
        },
        "0015 20 0102 0000 0002 ffff 0b 00 0007 01 61 54 00000001 ce",
    ),
    Golden("handle.flow", {"handle_id": 1, "flow_pause": True}, "0007 22 0001 0000 01 ce"),
    Golden("handle.unget", {"handle_id": 1, "message_nbr": 7}, "000a 23 0001 0000 00000007 ce"),
    Golden(
        "handle.query",
        {"handle_id": 1, "dest_name": "q", "selector": b"aa"},
        "000f 24 0001 00000000 01 71 0002 6161 00 ce",
    ),
    Golden(
        "handle.browse",
        {"handle_id": 1, "confirm_tag": 8, "message_nbr": 0xFFFFFFFF},
        "000a 25 0001 0008 ffffffff ce",
    ),
    Golden("handle.created", {"handle_id": 1, "dest_name": "tmp"}, "0008 28 0001 03 746d70 ce"),
    Golden(
        "handle.notify",
        {"handle_id": 1, "message_nbr": 7, "delivered": True, "redelivered": True, "dest_name": "q"},
        "000f 29 0001 00000007 00000002 18 01 71 ce",
        b"hi",
    ),
    Golden(
        "handle.notify",
        {"handle_id": 1, "message_nbr": 7, "recovery": True},
        "000e 29 0001 00000007 00000001 04 00 ce",
        b"\xce",
    ),
    Golden(
        "handle.index",
        {"handle_id": 1, "message_nbr": 9, "message_list": b"0 5-9"},
        "000f 2a 0001 00000009 0005 3020352d39 ce",
    ),
    Golden("handle.prepare", {"handle_id": 1, "content_hash": "ab"}, "000b 2b 0001 00000003 02 6162 ce", b"xyz"),
    Golden("handle.ready", {"handle_id": 1, "message_size": 1024}, "0008 2c 0001 00000400 ce"),
    Golden(
        "handle.reply",
        {"handle_id": 1, "confirm_tag": 4, "reply_code": 310, "reply_text": "no"},
        "000b 30 0001 0004 0136 02 6e6f ce",
    ),
    Golden(
        "handle.close",
        {"handle_id": 1, "reply_code": 505, "reply_text": "no"},
        "0009 31 0001 01f9 02 6e6f ce",
    ),
)  # fmt: skip

# Values of tables: what is written, how it is read, and its octets after a name.
TABLE_VALUES = (
    ("gast", Typed("S", b"gast"), "53 0004 67617374"),
    (b"\x00\xff", Typed("S", b"\x00\xff"), "53 0002 00ff"),
    ("", Typed("S", b""), "53 0000"),
    (1, Typed("I", 1), "49 00000001"),
    (-1, Typed("I", -1), "49 ffffffff"),
    (-(2**31), Typed("I", -(2**31)), "49 80000000"),
    (2**31 - 1, Typed("I", 2**31 - 1), "49 7fffffff"),
    ((2, 12345), Typed("D", (2, 12345)), "44 02 00003039"),
    ((255, -1), Typed("D", (255, -1)), "44 ff ffffffff"),
    (Typed("T", 0), Typed("T", 0), "54 00000000"),
    (Typed("T", 2**32 - 1), Typed("T", 2**32 - 1), "54 ffffffff"),
)

HEAD = {
    "body_size": 5,
    "persistent": True,
    "priority": 9,
    "expiration": 1_119_398_400,
    "mime_type": "text/plain",
    "encoding": "utf-8",
    "identifier": "m1",
    "headers": {"k": 1},
}
HEAD_OCTETS = bytes.fromhex(
    "00000005 01 09 42b8aa00 0a 746578742f706c61696e 05 7574662d38 02 6d31 0007 01 6b 49 00000001"
)
EMPTY_HEAD_OCTETS = bytes.fromhex("00000000 00 00 00000000 00 00 00 0000")
