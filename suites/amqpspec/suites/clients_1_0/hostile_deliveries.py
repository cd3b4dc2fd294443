"""Servers that break the rules of deliveries: ids, tags, formats, credit, windows, invalid messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.peer.amqp_1_0.books import serial
from amqpspec.run.clients.provoking import followed, instead
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.frames import performative_frame
from amqpspec.wire.hostility import Act, Deed

_AT = ("transfer", "receive")
_MANY, _ENDLESS_OCTETS, _PIECE_OCTETS = 3_000, 16 << 20, 16_000


def _id(frame: bytes, ahead: int) -> int:
    return serial(int(of.read(frame)[0]["delivery_id"]) + ahead)


def _in_two(frame: bytes, **changes: Any) -> list[bytes]:
    """The delivery in two transfers, the second with other fields."""
    payload = of.read(frame)[1]
    half = len(payload) // 2
    return [of.again(frame, payload[:half], more=True) + of.again(frame, payload[half:], **changes)]


def _many(frame: bytes) -> Iterator[bytes]:
    """The delivery, and thousands more after it, settled and small."""
    held, payload = of.read(frame)
    channel, handle, first = of.channel_of(frame), held["handle"], int(held["delivery_id"])
    yield frame
    for at in range(1, _MANY + 1):
        named: dict[str, Any] = {
            "delivery_id": serial(first + at),
            "delivery_tag": b"many-%d" % at,
            "message_format": 0,
        }
        yield performative_frame("transfer", channel, payload=payload, handle=handle, settled=True, **named)


def _endless(frame: bytes) -> Iterator[bytes | Act]:
    """The delivery without an end, until the socket ends."""
    yield of.again(frame, b"\x00\x53\x75\xb0\x7f\xff\xff\xff" + bytes(_PIECE_OCTETS), more=True)
    piece = of.again(frame, bytes(_PIECE_OCTETS), delivery_tag=None, message_format=None, more=True)
    for _ in range(_ENDLESS_OCTETS // len(piece)):
        yield piece
    yield Act.FIN


def _same_tag(frame: bytes) -> bytes:
    return of.again(frame, delivery_id=_id(frame, 1))


_DEEDS: tuple[tuple[str, str, Deed, str], ...] = (
    ("id-jumps", "violated/links/delivery-ids-per-session",
     instead(lambda f: of.again(f, delivery_id=_id(f, 7))), "a delivery-id that jumps by seven"),
    ("id-far", "violated/links/delivery-ids-per-session",
     followed(lambda f: of.again(f, delivery_id=_id(f, 1 << 31), delivery_tag=b"far")),
     "a delivery-id that jumps by 2^31"),
    ("no-id", "violated/performatives/transfer/delivery-id/first",
     instead(lambda f: of.again(f, delivery_id=None)), "a delivery without delivery-id"),
    ("no-tag", "violated/performatives/transfer/delivery-tag/first",
     instead(lambda f: of.again(f, delivery_tag=None)), "a delivery without delivery-tag"),
    ("no-format", "violated/performatives/transfer/message-format/first",
     instead(lambda f: of.again(f, message_format=None)), "a delivery without message-format"),
    ("no-handle", "violated/performatives/transfer/handle",
     followed(lambda f: of.again(f, handle=None)), "a transfer without handle"),
    ("long-tag", "violated/definitions/delivery-tag/length",
     instead(lambda f: of.again(f, delivery_tag=bytes(33))), "a delivery-tag of 33 octets"),
    ("huge-tag", "violated/definitions/delivery-tag/length",
     instead(lambda f: of.again(f, delivery_tag=bytes(400))), "a delivery-tag of 400 octets"),
    ("same-tag", "violated/transfers/delivery-tag/unique", followed(_same_tag), "a repeated delivery-tag"),
    ("id-changes", "violated/performatives/transfer/delivery-id/differs",
     lambda f: _in_two(f, delivery_id=_id(f, 1)), "a delivery-id that changes during a delivery"),
    ("tag-changes", "violated/performatives/transfer/delivery-tag/differs",
     lambda f: _in_two(f, delivery_tag=b"another"), "a delivery-tag that changes during a delivery"),
    ("format-changes", "violated/performatives/transfer/message-format/differs",
     lambda f: _in_two(f, message_format=7), "a message-format that changes during a delivery"),
    ("no-credit", "violated/links/flow/no-credit",
     followed(lambda f: b"".join(of.again(f, delivery_id=_id(f, n), delivery_tag=bytes([n])) for n in range(1, 20))),
     "nineteen extra deliveries"),
    ("window-overrun", "violated/definitions/condition/window-violation", _many, "3,000 deliveries at once"),
    ("message-cut", "survives/message", instead(lambda f: of.again(f, of.read(f)[1][:-1])), "a truncated message"),
    ("message-of-noise", "survives/message", instead(lambda f: of.again(f, b"\xff" * 40)), "a message of 0xFF octets"),
    ("message-of-nothing", "survives/message", instead(lambda f: of.again(f, b"")), "an empty message"),
    ("message-lies", "survives/message",
     instead(lambda f: of.again(f, b"\x00\x53\x75\xb0\xff\xff\xff\xf0x")), "a data section that announces 4 GiB"),
    ("endless", "survives/flood", _endless, "a delivery that ends after 16 MiB without its last transfer"),
)  # fmt: skip
for _name, _row, _deed, _what in _DEEDS:
    of.hostile(
        globals(), f"client.hostile.delivery.{_name}", _row, _AT, _deed, f"A client {of.demand(_row)} {_what}",
        of.surviving if _row == "survives/flood" else None,
    )  # fmt: skip
