"""Payloads written by hand from the grammar of the 9.1 wire draft and the 0-8 method definitions.

Knows: octets and what they say. Must not know: our tables and codec.
Spaces separate what belongs together: class-id and method-id, then one group for each argument.
"""

from __future__ import annotations

from tests.wire.golden import BASE, EMPTY, PRODUCT, PRODUCT_HEX, Golden

CONSUME = {
    "ticket": 1,
    "queue": "q",
    "consumer_tag": "c",
    "no_local": False,
    "no_ack": True,
    "exclusive": False,
    "nowait": True,
}
RETURN = {"reply_code": 310, "reply_text": "no", "exchange": "e", "routing_key": "k"}
RETURN_HEX = "0136 026e6f 0165 016b"
PUBLISH = {"ticket": 1, "exchange": "e", "routing_key": "k", "mandatory": False, "immediate": True}
PUBLISH_HEX = "0001 0165 016b 02"
CLOSE = {"reply_code": 501, "reply_text": "bad", "class_id": 60, "method_id": 40}
CLOSE_HEX = "01f5 03626164 003c 0028"

SHARED = {
    *(
        "connection.start-ok",
        "connection.secure",
        "connection.secure-ok",
        "connection.tune",
        "connection.tune-ok",
    ),
    *("channel.flow", "channel.flow-ok", "queue.declare-ok", "queue.purge-ok"),
}
"""Methods whose payloads are those of 0-9-1, octet for octet."""

WITH_ARGUMENTS: tuple[Golden, ...] = (
    # class 10: connection
    Golden(
        "connection.start",
        {
            "version_major": 9,
            "version_minor": 1,
            "server_properties": PRODUCT,
            "mechanisms": b"PLAIN",
            "locales": b"en_US",
        },
        f"000a 000a 09 01 {PRODUCT_HEX} 00000005 504c41494e 00000005 656e5f5553",
    ),
    Golden(
        "connection.open",
        {"virtual_host": "/", "capabilities": "x", "insist": True},
        "000a 0028 012f 0178 01",
    ),
    Golden("connection.open-ok", {"known_hosts": "h:1"}, "000a 0029 03683a31"),
    Golden("connection.redirect", {"host": "h:1", "known_hosts": ""}, "000a 0032 03683a31 00"),
    Golden("connection.close", CLOSE, f"000a 003c {CLOSE_HEX}"),
    # class 20: channel
    Golden("channel.open", {"out_of_band": ""}, "0014 000a 00"),
    Golden(
        "channel.alert",
        {"reply_code": 311, "reply_text": "big", "details": PRODUCT},
        f"0014 001e 0137 03626967 {PRODUCT_HEX}",
    ),
    Golden("channel.close", CLOSE, f"0014 0028 {CLOSE_HEX}"),
    # class 30: access; the first bit is the lowest
    Golden(
        "access.request",
        {"realm": "/data", "exclusive": False, "passive": True, "active": False, "write": True, "read": True},
        "001e 000a 052f64617461 1a",
    ),
    Golden("access.request-ok", {"ticket": 258}, "001e 000b 0102"),
    # class 40: exchange
    Golden(
        "exchange.declare",
        {
            "ticket": 1,
            "exchange": "e1",
            "type": "topic",
            "passive": False,
            "durable": True,
            "auto_delete": False,
            "internal": True,
            "nowait": True,
            "arguments": EMPTY,
        },
        "0028 000a 0001 026531 05746f706963 1a 00000000",
    ),
    Golden(
        "exchange.delete",
        {"ticket": 1, "exchange": "e1", "if_unused": False, "nowait": True},
        "0028 0014 0001 026531 02",
    ),
    # class 50: queue
    Golden(
        "queue.declare",
        {
            "ticket": 1,
            "queue": "q",
            "passive": False,
            "durable": False,
            "exclusive": True,
            "auto_delete": False,
            "nowait": True,
            "arguments": PRODUCT,
        },
        f"0032 000a 0001 0171 14 {PRODUCT_HEX}",
    ),
    Golden(
        "queue.bind",
        {"ticket": 1, "queue": "q", "exchange": "e", "routing_key": "k", "nowait": False, "arguments": EMPTY},
        "0032 0014 0001 0171 0165 016b 00 00000000",
    ),
    Golden("queue.purge", {"ticket": 1, "queue": "q", "nowait": True}, "0032 001e 0001 0171 01"),
    Golden(
        "queue.delete",
        {"ticket": 1, "queue": "q", "if_unused": True, "if_empty": False, "nowait": True},
        "0032 0028 0001 0171 05",
    ),
    Golden("queue.delete-ok", {"message_count": 7}, "0032 0029 00000007"),
    # class 60: basic
    Golden(
        "basic.qos",
        {"prefetch_size": 0, "prefetch_count": 10, "global": True},
        "003c 000a 00000000 000a 01",
    ),
    Golden("basic.consume", CONSUME, "003c 0014 0001 0171 0163 0a"),
    Golden("basic.consume-ok", {"consumer_tag": "c"}, "003c 0015 0163"),
    Golden("basic.cancel", {"consumer_tag": "c", "nowait": True}, "003c 001e 0163 01"),
    Golden("basic.cancel-ok", {"consumer_tag": "c"}, "003c 001f 0163"),
    Golden("basic.publish", PUBLISH, f"003c 0028 {PUBLISH_HEX}"),
    Golden("basic.return", RETURN, f"003c 0032 {RETURN_HEX}"),
    Golden(
        "basic.deliver",
        {"consumer_tag": "c", "delivery_tag": 1, "redelivered": True, "exchange": "e", "routing_key": "k"},
        "003c 003c 0163 0000000000000001 01 0165 016b",
    ),
    Golden("basic.get", {"ticket": 1, "queue": "q", "no_ack": True}, "003c 0046 0001 0171 01"),
    Golden(
        "basic.get-ok",
        {"delivery_tag": 1, "redelivered": False, "exchange": "e", "routing_key": "k", "message_count": 2},
        "003c 0047 0000000000000001 00 0165 016b 00000002",
    ),
    Golden("basic.get-empty", {"cluster_id": "cl"}, "003c 0048 02636c"),
    Golden("basic.ack", {"delivery_tag": 1, "multiple": True}, "003c 0050 0000000000000001 01"),
    Golden("basic.reject", {"delivery_tag": 1, "requeue": True}, "003c 005a 0000000000000001 01"),
    Golden("basic.recover", {"requeue": True}, "003c 0064 01"),
    # class 70: file
    Golden(
        "file.qos", {"prefetch_size": 1, "prefetch_count": 2, "global": False}, "0046 000a 00000001 0002 00"
    ),
    Golden("file.consume", CONSUME, "0046 0014 0001 0171 0163 0a"),
    Golden("file.consume-ok", {"consumer_tag": "c"}, "0046 0015 0163"),
    Golden("file.cancel", {"consumer_tag": "c", "nowait": False}, "0046 001e 0163 00"),
    Golden("file.cancel-ok", {"consumer_tag": "c"}, "0046 001f 0163"),
    Golden("file.open", {"identifier": "f", "content_size": 258}, "0046 0028 0166 0000000000000102"),
    Golden("file.open-ok", {"staged_size": 258}, "0046 0029 0000000000000102"),
    Golden("file.publish", {**PUBLISH, "identifier": "f"}, f"0046 003c {PUBLISH_HEX} 0166"),
    Golden("file.return", RETURN, f"0046 0046 {RETURN_HEX}"),
    Golden(
        "file.deliver",
        {
            "consumer_tag": "c",
            "delivery_tag": 1,
            "redelivered": True,
            "exchange": "e",
            "routing_key": "k",
            "identifier": "f",
        },
        "0046 0050 0163 0000000000000001 01 0165 016b 0166",
    ),
    Golden("file.ack", {"delivery_tag": 1, "multiple": False}, "0046 005a 0000000000000001 00"),
    Golden("file.reject", {"delivery_tag": 1, "requeue": True}, "0046 0064 0000000000000001 01"),
    # class 80: stream
    Golden(
        "stream.qos",
        {"prefetch_size": 1, "prefetch_count": 2, "consume_rate": 3, "global": True},
        "0050 000a 00000001 0002 00000003 01",
    ),
    Golden(
        "stream.consume",
        {
            "ticket": 1,
            "queue": "q",
            "consumer_tag": "c",
            "no_local": True,
            "exclusive": False,
            "nowait": True,
        },
        "0050 0014 0001 0171 0163 05",
    ),
    Golden("stream.consume-ok", {"consumer_tag": "c"}, "0050 0015 0163"),
    Golden("stream.cancel", {"consumer_tag": "c", "nowait": True}, "0050 001e 0163 01"),
    Golden("stream.cancel-ok", {"consumer_tag": "c"}, "0050 001f 0163"),
    Golden("stream.publish", PUBLISH, f"0050 0028 {PUBLISH_HEX}"),
    Golden("stream.return", RETURN, f"0050 0032 {RETURN_HEX}"),
    Golden(
        "stream.deliver",
        {"consumer_tag": "c", "delivery_tag": 1, "exchange": "e", "queue": "q"},
        "0050 003c 0163 0000000000000001 0165 0171",
    ),
    # classes 100, 110, 120: dtx, tunnel, test
    Golden("dtx.start", {"dtx_identifier": "x1"}, "0064 0014 027831"),
    Golden("tunnel.request", {"meta_data": PRODUCT}, f"006e 000a {PRODUCT_HEX}"),
    Golden(
        "test.integer",
        {"integer_1": 1, "integer_2": 515, "integer_3": 67438087, "integer_4": 1, "operation": 2},
        "0078 000a 01 0203 04050607 0000000000000001 02",
    ),
    Golden("test.integer-ok", {"result": 258}, "0078 000b 0000000000000102"),
    Golden(
        "test.string",
        {"string_1": "a", "string_2": b"\x00b", "operation": 1},
        "0078 0014 0161 00000002 0062 01",
    ),
    Golden("test.string-ok", {"result": b"ab"}, "0078 0015 00000002 6162"),
    Golden(
        "test.table",
        {"table": PRODUCT, "integer_op": 1, "string_op": 2},
        f"0078 001e {PRODUCT_HEX} 01 02",
    ),
    Golden(
        "test.table-ok", {"integer_result": 1, "string_result": b""}, "0078 001f 0000000000000001 00000000"
    ),
    Golden("test.content-ok", {"content_checksum": 3735928559}, "0078 0029 deadbeef"),
)

WITHOUT_ARGUMENTS = {
    "connection.close-ok": "000a 003d",
    "channel.open-ok": "0014 000b",
    "channel.close-ok": "0014 0029",
    "exchange.declare-ok": "0028 000b",
    "exchange.delete-ok": "0028 0015",
    "queue.bind-ok": "0032 0015",
    "basic.qos-ok": "003c 000b",
    "file.qos-ok": "0046 000b",
    "file.stage": "0046 0032",
    "stream.qos-ok": "0050 000b",
    "tx.select": "005a 000a",
    "tx.select-ok": "005a 000b",
    "tx.commit": "005a 0014",
    "tx.commit-ok": "005a 0015",
    "tx.rollback": "005a 001e",
    "tx.rollback-ok": "005a 001f",
    "dtx.select": "0064 000a",
    "dtx.select-ok": "0064 000b",
    "dtx.start-ok": "0064 0015",
    "test.content": "0078 0028",
}

METHODS = (
    *(row for row in BASE if row.name in SHARED),
    *WITH_ARGUMENTS,
    *(Golden(name, {}, text) for name, text in WITHOUT_ARGUMENTS.items()),
)

VALUES = (
    ("S", b"\x00ab", "00000003 006162"),
    ("I", -2, "fffffffe"),
    ("I", 2147483647, "7fffffff"),
    ("D", (2, -1), "02 ffffffff"),
    ("D", (255, 5), "ff 00000005"),
    ("T", 1, "0000000000000001"),
    ("F", PRODUCT, PRODUCT_HEX),
)
"""Table values: tag, value, octets after the tag."""

DEPLOYED: tuple[Golden, ...] = (
    Golden(
        "queue.unbind",
        {"ticket": 1, "queue": "q", "exchange": "e", "routing_key": "k", "arguments": EMPTY},
        "0032 0032 0001 0171 0165 016b 00000000",
    ),
    Golden("queue.unbind-ok", {}, "0032 0033"),
    Golden("basic.recover-ok", {}, "003c 0065"),
    Golden("basic.recover-sync", {"requeue": True}, "003c 006e 01"),
    Golden("basic.recover-sync-ok", {}, "003c 006f"),
)
"""What the overlay of deployed servers adds."""
