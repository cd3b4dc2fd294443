"""Payloads written by hand from the grammar and the method definitions of AMQP 0-9-1, and of RabbitMQ's extensions.

Knows: octets and what they say. Must not know: our tables and codec.
Spaces separate what belongs together: class-id and method-id, then one group for each argument.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from amqpspec.wire.values import Table, Typed


class Golden(NamedTuple):
    """A method, its arguments, and its payload in hex."""

    name: str
    args: dict[str, Any]
    hex: str


PRODUCT = Table([("product", Typed("S", b"x"))])
PRODUCT_HEX = "0000000e 0770726f64756374 53 00000001 78"
EMPTY = Table()

BASE: tuple[Golden, ...] = (
    # class 10: connection
    Golden(
        "connection.start",
        {
            "version_major": 0,
            "version_minor": 9,
            "server_properties": PRODUCT,
            "mechanisms": b"PLAIN AMQPLAIN",
            "locales": b"en_US",
        },
        f"000a 000a 00 09 {PRODUCT_HEX} 0000000e 504c41494e 20 414d51504c41494e 00000005 656e5f5553",
    ),
    Golden(
        "connection.start-ok",
        {"client_properties": PRODUCT, "mechanism": "PLAIN", "response": b"\0u\0p", "locale": "en_US"},
        f"000a 000b {PRODUCT_HEX} 05504c41494e 00000004 00750070 05656e5f5553",
    ),
    Golden("connection.secure", {"challenge": b"hi"}, "000a 0014 00000002 6869"),
    Golden("connection.secure-ok", {"response": b"ho!"}, "000a 0015 00000003 686f21"),
    Golden(
        "connection.tune",
        {"channel_max": 2047, "frame_max": 131072, "heartbeat": 60},
        "000a 001e 07ff 00020000 003c",
    ),
    Golden(
        "connection.tune-ok",
        {"channel_max": 1, "frame_max": 4096, "heartbeat": 0},
        "000a 001f 0001 00001000 0000",
    ),
    Golden(
        "connection.open",
        {"virtual_host": "/", "reserved_1": "", "reserved_2": False},
        "000a 0028 012f 00 00",
    ),
    Golden("connection.open-ok", {"reserved_1": ""}, "000a 0029 00"),
    Golden(
        "connection.close",
        {"reply_code": 501, "reply_text": "FRAME_ERROR", "class_id": 60, "method_id": 40},
        "000a 0032 01f5 0b4652414d455f4552524f52 003c 0028",
    ),
    Golden("connection.close-ok", {}, "000a 0033"),
    # class 20: channel
    Golden("channel.open", {"reserved_1": ""}, "0014 000a 00"),
    Golden("channel.open-ok", {"reserved_1": b""}, "0014 000b 00000000"),
    Golden("channel.flow", {"active": True}, "0014 0014 01"),
    Golden("channel.flow-ok", {"active": False}, "0014 0015 00"),
    Golden(
        "channel.close",
        {"reply_code": 404, "reply_text": "no", "class_id": 50, "method_id": 10},
        "0014 0028 0194 026e6f 0032 000a",
    ),
    Golden("channel.close-ok", {}, "0014 0029"),
    # class 40: exchange; the first bit is the lowest
    Golden(
        "exchange.declare",
        {
            "reserved_1": 0,
            "exchange": "e1",
            "type": "topic",
            "passive": False,
            "durable": True,
            "reserved_2": False,
            "reserved_3": False,
            "no_wait": True,
            "arguments": EMPTY,
        },
        "0028 000a 0000 026531 05746f706963 12 00000000",
    ),
    Golden("exchange.declare-ok", {}, "0028 000b"),
    Golden(
        "exchange.delete",
        {"reserved_1": 0, "exchange": "e1", "if_unused": True, "no_wait": False},
        "0028 0014 0000 026531 01",
    ),
    Golden("exchange.delete-ok", {}, "0028 0015"),
    # class 50: queue
    Golden(
        "queue.declare",
        {
            "reserved_1": 0,
            "queue": "q",
            "passive": False,
            "durable": True,
            "exclusive": False,
            "auto_delete": True,
            "no_wait": False,
            "arguments": PRODUCT,
        },
        f"0032 000a 0000 0171 0a {PRODUCT_HEX}",
    ),
    Golden(
        "queue.declare-ok",
        {"queue": "q", "message_count": 258, "consumer_count": 1},
        "0032 000b 0171 00000102 00000001",
    ),
    Golden(
        "queue.bind",
        {
            "reserved_1": 0,
            "queue": "q",
            "exchange": "e1",
            "routing_key": "a.#",
            "no_wait": True,
            "arguments": EMPTY,
        },
        "0032 0014 0000 0171 026531 03612e23 01 00000000",
    ),
    Golden("queue.bind-ok", {}, "0032 0015"),
    Golden(
        "queue.unbind",
        {"reserved_1": 0, "queue": "q", "exchange": "e1", "routing_key": "", "arguments": EMPTY},
        "0032 0032 0000 0171 026531 00 00000000",
    ),
    Golden("queue.unbind-ok", {}, "0032 0033"),
    Golden("queue.purge", {"reserved_1": 0, "queue": "q", "no_wait": False}, "0032 001e 0000 0171 00"),
    Golden("queue.purge-ok", {"message_count": 7}, "0032 001f 00000007"),
    Golden(
        "queue.delete",
        {"reserved_1": 0, "queue": "q", "if_unused": False, "if_empty": True, "no_wait": True},
        "0032 0028 0000 0171 06",
    ),
    Golden("queue.delete-ok", {"message_count": 4294967295}, "0032 0029 ffffffff"),
    # class 60: basic
    Golden(
        "basic.qos",
        {"prefetch_size": 65536, "prefetch_count": 10, "global": True},
        "003c 000a 00010000 000a 01",
    ),
    Golden("basic.qos-ok", {}, "003c 000b"),
    Golden(
        "basic.consume",
        {
            "reserved_1": 0,
            "queue": "q",
            "consumer_tag": "ct",
            "no_local": False,
            "no_ack": True,
            "exclusive": True,
            "no_wait": False,
            "arguments": EMPTY,
        },
        "003c 0014 0000 0171 026374 06 00000000",
    ),
    Golden("basic.consume-ok", {"consumer_tag": "ct"}, "003c 0015 026374"),
    Golden("basic.cancel", {"consumer_tag": "ct", "no_wait": True}, "003c 001e 026374 01"),
    Golden("basic.cancel-ok", {"consumer_tag": "ct"}, "003c 001f 026374"),
    Golden(
        "basic.publish",
        {"reserved_1": 0, "exchange": "", "routing_key": "q", "mandatory": True, "immediate": True},
        "003c 0028 0000 00 0171 03",
    ),
    Golden(
        "basic.return",
        {"reply_code": 313, "reply_text": "NO_CONSUMERS", "exchange": "e1", "routing_key": "k"},
        "003c 0032 0139 0c4e4f5f434f4e53554d455253 026531 016b",
    ),
    Golden(
        "basic.deliver",
        {
            "consumer_tag": "ct",
            "delivery_tag": 258,
            "redelivered": True,
            "exchange": "e1",
            "routing_key": "k",
        },
        "003c 003c 026374 0000000000000102 01 026531 016b",
    ),
    Golden("basic.get", {"reserved_1": 0, "queue": "q", "no_ack": True}, "003c 0046 0000 0171 01"),
    Golden(
        "basic.get-ok",
        {
            "delivery_tag": 1,
            "redelivered": False,
            "exchange": "",
            "routing_key": "q",
            "message_count": 3,
        },
        "003c 0047 0000000000000001 00 00 0171 00000003",
    ),
    Golden("basic.get-empty", {"reserved_1": ""}, "003c 0048 00"),
    Golden("basic.ack", {"delivery_tag": 2**64 - 1, "multiple": True}, "003c 0050 ffffffffffffffff 01"),
    Golden("basic.reject", {"delivery_tag": 5, "requeue": False}, "003c 005a 0000000000000005 00"),
    Golden("basic.recover-async", {"requeue": True}, "003c 0064 01"),
    Golden("basic.recover", {"requeue": False}, "003c 006e 00"),
    Golden("basic.recover-ok", {}, "003c 006f"),
    # class 90: tx
    Golden("tx.select", {}, "005a 000a"),
    Golden("tx.select-ok", {}, "005a 000b"),
    Golden("tx.commit", {}, "005a 0014"),
    Golden("tx.commit-ok", {}, "005a 0015"),
    Golden("tx.rollback", {}, "005a 001e"),
    Golden("tx.rollback-ok", {}, "005a 001f"),
)

_BINDING = {
    "reserved_1": 0,
    "destination": "d",
    "source": "s",
    "routing_key": "k",
    "no_wait": True,
    "arguments": EMPTY,
}

OVERLAY: tuple[Golden, ...] = (
    Golden("connection.blocked", {"reason": "low"}, "000a 003c 036c6f77"),
    Golden("connection.unblocked", {}, "000a 003d"),
    Golden(
        "connection.update-secret",
        {"new_secret": b"s3", "reason": "old"},
        "000a 0046 00000002 7333 036f6c64",
    ),
    Golden("connection.update-secret-ok", {}, "000a 0047"),
    Golden(
        "exchange.declare",
        {
            "reserved_1": 0,
            "exchange": "e1",
            "type": "topic",
            "passive": True,
            "durable": False,
            "auto_delete": True,
            "internal": True,
            "no_wait": False,
            "arguments": EMPTY,
        },
        "0028 000a 0000 026531 05746f706963 0d 00000000",
    ),
    Golden("exchange.bind", _BINDING, "0028 001e 0000 0164 0173 016b 01 00000000"),
    Golden("exchange.bind-ok", {}, "0028 001f"),
    Golden("exchange.unbind", _BINDING, "0028 0028 0000 0164 0173 016b 01 00000000"),
    Golden("exchange.unbind-ok", {}, "0028 0033"),
    Golden(
        "basic.nack",
        {"delivery_tag": 9, "multiple": False, "requeue": True},
        "003c 0078 0000000000000009 02",
    ),
    Golden("confirm.select", {"nowait": True}, "0055 000a 01"),
    Golden("confirm.select-ok", {}, "0055 000b"),
)

# One table value of each tag, in hex after the tag.
COMMON_VALUES: tuple[tuple[str, Any, str], ...] = (
    ("t", True, "01"),
    ("t", False, "00"),
    ("b", -2, "fe"),
    ("B", 254, "fe"),
    ("u", 65534, "fffe"),
    ("I", -2, "fffffffe"),
    ("i", 4294967294, "fffffffe"),
    ("f", 1.5, "3fc00000"),
    ("d", -2.0, "c000000000000000"),
    ("D", (2, 12345), "02 00003039"),
    ("D", (255, -1), "ff ffffffff"),
    ("S", b"\x00\xff", "00000002 00ff"),
    ("T", 1795226400, "000000006b00fb20"),
    ("V", None, ""),
    ("A", [], "00000000"),
    ("A", [Typed("t", True), Typed("V", None)], "00000003 74 01 56"),
    ("F", EMPTY, "00000000"),
    ("F", Table([("k", Typed("V", None))]), "00000003 016b 56"),
)
BASE_VALUES: tuple[tuple[str, Any, str], ...] = (
    *COMMON_VALUES,
    ("U", -2, "fffe"),
    ("L", -2, "fffffffffffffffe"),
    ("l", 2**64 - 2, "fffffffffffffffe"),
    ("s", "hé", "03 68c3a9"),
)
OVERLAY_VALUES: tuple[tuple[str, Any, str], ...] = (
    *COMMON_VALUES,
    ("s", -2, "fffe"),
    ("l", -2, "fffffffffffffffe"),
    ("x", b"\x01\x02", "00000002 0102"),
)
