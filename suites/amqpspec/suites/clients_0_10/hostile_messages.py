"""Servers that break the rules of messages: unknown destinations, missing credit, wrong lengths, endless messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.run.clients.provoking import followed, instead
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, LAST_SEGMENT, encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import BODY
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.hostility import Act, Deed

_MORE, _EMPTY_FRAMES = 19, 10_000
_ENDLESS_OCTETS, _PIECE_OCTETS = 16 << 20, 4_000


def _with_length(length: int) -> Deed:
    """The transfer with another content-length than its body has."""

    def deed(frame: bytes) -> bytes:
        assembly, args = of.read(frame), of.args_of(frame)
        entry = Packed("message.message-properties", {"content_length": length})
        return encode_assembly(assembly.name, assembly.channel, header=[entry], body=assembly.body, **args)

    return instead(deed)


def _beginning(frame: bytes) -> bytes:
    """The transfer up to its body."""
    assembly, args = of.read(frame), of.args_of(frame)
    return encode_assembly(assembly.name, assembly.channel, header=assembly.header, body=b"", **args)[:-12]


def _piece(frame: bytes, octets: int, flags: int = 0) -> bytes:
    return encode_frame(bytes(octets), type=BODY, flags=LAST_SEGMENT | flags, channel=of.channel_of(frame))


def _endless(frame: bytes) -> Iterator[bytes | Act]:
    """The transfer with a body that does not end, until the socket ends."""
    yield _beginning(frame) + _piece(frame, _PIECE_OCTETS, FIRST_FRAME)
    piece = _piece(frame, _PIECE_OCTETS)
    for _ in range(_ENDLESS_OCTETS // len(piece)):
        yield piece
    yield Act.FIN


def _of_nothing(frame: bytes) -> Iterator[bytes | Act]:
    """The transfer with a body of frames that hold nothing, until the socket ends."""
    yield _beginning(frame) + _piece(frame, 0, FIRST_FRAME)
    yield _piece(frame, 0) * _EMPTY_FRAMES
    yield Act.FIN


def _resolved(name: str, **args: Any) -> Deed:
    """A command about messages that the client never sent."""
    return of.behind(
        lambda channel: of.pointed(channel, encode_assembly(name, channel, transfers=((900, 901),), **args))
    )


_DELIVERIES: tuple[tuple[str, str, Deed, str], ...] = (
    ("to-nobody", "violated/message/transfer/subscription",
     followed(lambda f: of.again(f, destination="nobody")), "a transfer to a destination that it does not have"),
    ("without-destination", "violated/message/transfer/subscription",
     followed(lambda f: of.again(f, destination=None)), "a transfer without a destination"),
    ("beyond-credit", "violated/message/set-flow-mode/credit",
     followed(lambda f: f * _MORE), "nineteen extra transfers"),
    ("length-too-long", "survives/message", _with_length(1 << 62), "a message that announces 2^62 octets"),
    ("length-too-short", "survives/message", _with_length(1), "a message that announces one octet"),
    ("accept-mode-9", "survives/message", instead(lambda f: of.again(f, accept_mode=9)), "a transfer of accept-mode 9"),
    ("endless", "survives/flood", _endless, "a message that ends after 16 MiB without its last frame"),
    ("frames-of-nothing", "survives/flood", _of_nothing,
     "a message that ends after 10,000 empty frames without its last frame"),
)  # fmt: skip
for _name, _row, _deed, _what in _DELIVERIES:
    of.hostile(
        globals(), f"client.hostile.delivery.{_name}", _row, of.POINTS["transfer"], _deed,
        f"A client {of.demand(_row)} {_what}", of.surviving if _row == "survives/flood" else None,
    )  # fmt: skip
for _name, _deed, _what in (
    ("accepted", _resolved("message.accept"), "the acceptance of messages that it never sent"),
    ("rejected", _resolved("message.reject", code=1), "the rejection of messages that it never sent"),
    ("released", _resolved("message.release"), "the release of messages that it never sent"),
):
    of.hostile(
        globals(), f"client.hostile.never-sent.{_name}", "survives/sets", of.POINTS["completed"], _deed,
        f"A client survives {_what}",
    )  # fmt: skip
