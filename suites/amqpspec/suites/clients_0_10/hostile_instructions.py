"""Servers that send controls and commands that do not exist, that are truncated, or whose values are wrong."""

from __future__ import annotations

from typing import Any

from amqpspec.run.clients.provoking import instead
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL, encode_instruction
from amqpspec.wire.amqp_0_10.malformed import counted, nested, sized
from amqpspec.wire.amqp_0_10.values import Packed, Raw
from amqpspec.wire.hostility import Deed


def _control(name: str, args: dict[str, Any] | None = None, **lies: Any) -> Deed:
    return of.behind(lambda channel: of.lying(name, channel, args, **lies))


def _command(name: str, args: dict[str, Any] | None = None, **lies: Any) -> Deed:
    return of.behind(lambda channel: of.pointed(channel, of.lying(name, channel, args, **lies)))


def _cut_short(name: str, args: dict[str, Any], kind: int) -> Deed:
    octets = encode_instruction(name, args)[:-1]

    def behind(channel: int) -> bytes:
        frame = encode_frame(octets, type=kind, channel=channel)
        return frame if kind == CONTROL else of.pointed(channel, frame)

    return of.behind(behind)


_POINT = {"command_id": 7, "command_offset": 0}
_FLOW: dict[str, Any] = {"destination": "x", "unit": 0, "value": 1}
_INSTRUCTIONS: tuple[tuple[str, str, Deed, str], ...] = (
    ("control-of-unknown-class", "encoding/command/unknown-class",
     _control("connection.heartbeat", code=(99, 1)), "a control of class 99"),
    ("command-of-unknown-class", "encoding/command/unknown-class",
     _command("execution.sync", code=(99, 1)), "a command of class 99"),
    ("unknown-control", "encoding/command/unknown-command",
     _control("connection.heartbeat", code=(2, 99)), "control 99 of class session"),
    ("unknown-command", "encoding/command/unknown-command",
     _command("execution.sync", code=(4, 99)), "command 99 of class message"),
    ("control-without-code", "encoding/command/truncated",
     of.behind(of.frame(CONTROL, payload=b"\x01")), "a control of one octet"),
    ("control-cut", "encoding/command/truncated",
     _cut_short("session.command-point", _POINT, CONTROL), "a control truncated within its last field"),
    ("command-cut", "encoding/command/truncated",
     _cut_short("message.flow", _FLOW, COMMAND), "a command truncated within its last field"),
    ("octets-behind-a-control", "encoding/command/trailing",
     _control("session.flush", extra=b"\0"), "a control with an octet after its last field"),
    ("octets-behind-a-command", "encoding/command/trailing",
     _command("execution.sync", extra=b"\0"), "a command with an octet after its last field"),
    ("control-of-clients", "encoding/command/wrong-side",
     _control("connection.open", {"virtual_host": "/"}), "a control that only clients send"),
    ("command-of-clients", "encoding/command/wrong-side",
     _command("queue.declare", {"queue": "x"}), "a command that only clients send"),
    ("reserved-packing-flags", "encoding/packing/reserved-flags",
     _control("session.flush", flags=0x8000), "a control with packing flags after that of its last field"),
    ("field-missing-in-control", "encoding/struct/required-field",
     _control("session.command-point", {"command_id": 3}), "a control without a required field"),
    ("field-missing-in-command", "encoding/struct/required-field",
     _command("message.flow", {"destination": "x"}), "a command without a required field"),
    ("ranges-touch", "type/sequence-set/disjoint",
     _command("message.accept", {"transfers": ((0, 1), (2, 3))}), "ranges that touch"),
    ("range-backwards", "type/sequence-set/disjoint",
     _command("message.accept", {"transfers": ((5, 3),)}), "a range that ends before it begins"),
    ("set-cut", "encoding/command/truncated",
     _command("message.accept", {"transfers": sized("sequence-set", b"\0\0\0\1", 400)}),
     "a set of ids that announces more octets than the frame contains"),
)  # fmt: skip
for _point in ("attached", "completed"):
    for _name, _row, _deed, _what in _INSTRUCTIONS:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", f"violated/{_row}", of.POINTS[_point], _deed,
            f"A client {of.demand(f'violated/{_row}')} {_what} after {_point}",
        )  # fmt: skip


def _shorter(frame: bytes) -> bytes:
    """The control in a frame that ends an octet early, or without its packing flags if it has no fields."""
    payload = of.read(frame).segments[0].octets
    return encode_frame(payload[:-1], type=CONTROL, channel=of.channel_of(frame))


for _point in ("start", "tune", "open-ok"):
    of.hostile(
        globals(), f"client.hostile.truncated.{_point}", "violated/connection/grammar", of.POINTS[_point],
        instead(_shorter), f"A client rejects {_point} without its last octet",
    )  # fmt: skip
for _point in ("attached", "completed"):
    of.hostile(
        globals(), f"client.hostile.truncated.{_point}", "violated/encoding/command/truncated", of.POINTS[_point],
        instead(_shorter), f"A client rejects {_point} without its last octet",
    )  # fmt: skip


# --- headers of messages


def _with_header(*entries: Any) -> Deed:
    """The transfer, its header replaced."""

    def deed(frame: bytes) -> bytes:
        assembly, args = of.read(frame), of.args_of(frame)
        return encode_assembly(assembly.name, assembly.channel, header=entries, body=assembly.body, **args)

    return instead(deed)


def _headers(value: Any) -> Packed:
    return Packed("message.message-properties", {"application_headers": value})


_DELIVERY = Packed("message.delivery-properties", {"routing_key": "x"})
_DEEP = 20_000
_HEADERS: tuple[tuple[str, str, tuple[Any, ...], str], ...] = (
    ("map-cut", "violated/encoding/map/malformed", (_headers(counted("map", b"\x01x\x95\x00\x05y", 1)),),
     "a truncated map"),
    ("map-of-4-giga", "violated/encoding/map/malformed", (_headers(counted("map", b"\x01x\xf0", 0xFFFFFFFF)),),
     "a map that announces 2^32 - 1 entries"),
    ("map-of-4-gib", "violated/encoding/map/malformed", (_headers(counted("map", b"\x01x\xf0", 1, size=0xFFFFFFFF)),),
     "a map that announces 4 GiB"),
    ("array-of-4-giga", "violated/encoding/map/malformed",
     (_headers(counted("map", b"\x01x\xaa" + counted("array", b"", 0xFFFFFFFF, item_code=0x02), 1)),),
     "an array that announces 2^32 - 1 items"),
    ("list-count", "violated/encoding/map/malformed",
     (_headers(counted("map", b"\x01x\xa9" + counted("list", b"\x08\x01", 9), 1)),),
     "a list with fewer items than announced"),
    ("reserved-type", "violated/encoding/type-codes/reserved", (_headers(counted("map", b"\x01x\xb5\0\0", 1)),),
     "a value of a reserved type"),
    ("key-twice", "violated/map/distinct-keys", (_headers([("x", "1"), ("x", "2")]),), "a repeated key"),
    ("struct-twice", "violated/encoding/header-segment/one-of-each", (_DELIVERY, _DELIVERY), "a repeated struct"),
    ("struct-of-one-octet", "violated/struct32/first-six-octets", (Raw(b"\0\0\0\1\4"),), "a struct without its code"),
    ("struct-cut", "violated/encoding/command/truncated", (Raw(b"\0\0\1\0\4\1\0\0"),), "a truncated struct"),
    ("nested-lists", "survives/values", (_headers(counted("map", b"\x01n\xa9" + nested(_DEEP), 1)),),
     "lists nested 20,000 levels deep"),
    ("nested-maps", "survives/values", (_headers(nested(_DEEP, "map")),), "maps nested 20,000 levels deep"),
)  # fmt: skip
for _name, _row, _entries, _what in _HEADERS:
    of.hostile(
        globals(), f"client.hostile.message.{_name}", _row, of.POINTS["transfer"], _with_header(*_entries),
        f"A client {of.demand(_row)} a message with {_what}",
    )  # fmt: skip
