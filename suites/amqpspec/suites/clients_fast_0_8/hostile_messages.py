"""Servers that break the rules of messages: heads, fragments, numbers, sizes, restarting."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.provoking import followed, instead
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening, encode_message
from amqpspec.wire.hostility import Act, Deed

_PIECE_OCTETS, _ENDLESS_OCTETS = 60_000, 16 << 20
_MOST = 0xFFFFFFFF


def _head(frame: bytes, **changes: object) -> bytes:
    """The message of a NOTIFY with another head."""
    head, body = decode_opening(of.read(frame).fragment)
    return encode_message(body, **{**head, **changes})


def _in_two(frame: bytes, between: bytes = b"", **first: object) -> bytes:
    """The message in two fragments, with something between them or with other fields in the first."""
    octets = of.read(frame).fragment
    half = len(octets) // 2
    fields = {"partial": True, "dest_name": "", **first}
    return (
        of.again(frame, fragment=octets[:half], **fields) + between + of.again(frame, fragment=octets[half:])
    )


def _endless(frame: bytes) -> Iterator[bytes | Act]:
    """A message of 4 GiB, of which 16 MiB come, and the end."""
    yield of.again(frame, fragment=_head(frame, body_size=_MOST), partial=True, dest_name="")
    piece = of.again(frame, fragment=bytes(_PIECE_OCTETS), partial=True, dest_name="")
    for _ in range(_ENDLESS_OCTETS // len(piece)):
        yield piece
    yield Act.FIN


def _announced(frame: bytes) -> Iterator[bytes | Act]:
    yield of.again(frame, fragment=_head(frame, body_size=_MOST), partial=True, dest_name="")
    yield Act.FIN


def _too_large(frame: bytes) -> bytes:
    message = encode_message(bytes(200_000))
    return of.again(frame, fragment=message)


_REPLY = command_frame("handle.reply", handle_id=1, confirm_tag=0x7777, reply_code=200)
_DEEDS: tuple[tuple[str, str, Deed, str], ...] = (
    ("body-longer", "violated/messages/head/body-size", of.changed(lambda m: m + b"more"),
     "a body that is longer than announced"),
    ("body-shorter", "violated/messages/head/body-size", of.changed(lambda m: m[:-1]),
     "a body that is shorter than announced"),
    ("head-cut", "violated/syntax/message-head", of.changed(lambda m: m[:5]), "a message that ends within its head"),
    ("head-noise", "violated/syntax/message-head", of.changed(lambda m: b"\xff" * 40), "a head of noise"),
    ("head-missing", "violated/syntax/message-head", of.changed(lambda m: b""), "a message without octets"),
    ("number-jumps", "violated/channel/ack/numbers", of.changed(message_nbr=77), "a message number that jumps"),
    ("number-zero", "violated/channel/ack/numbers", of.changed(message_nbr=0), "message number 0"),
    ("number-again", "violated/channel/ack/numbers", followed(lambda f: f), "a message number twice"),
    ("dest-name-early", "violated/handle/notify/dest-name",
     instead(lambda f: _in_two(f, dest_name="early")), "a destination on the first of two fragments"),
    ("reply-inside", "violated/handle/notify/consecutive",
     instead(lambda f: _in_two(f, _REPLY)), "a REPLY between the fragments of a message"),
    ("not-delivered", "violated/handle/notify/delivered",
     of.changed(delivered=False), "a consumed message that is flagged as browsed"),
    ("recovery-unasked", "violated/handle/notify/recovery",
     of.changed(recovery=True), "the rest of a message that was never prepared"),
    ("fragment-too-large", "violated/tuning/frame-max/kept", instead(_too_large), "a fragment above FRAME_MAX"),
    ("fragment-4gib", "violated/messages/frames/size",
     of.changed(fragment_size=_MOST), "a fragment that announces 4 GiB"),
    ("zero-octet", "violated/syntax/notes/zero-octet",
     of.changed(dest_name="a\0b"), "a destination with a zero octet"),
    ("endless", "violated/messages/fragments/large", _endless, "a message of 4 GiB that ends after 16 MiB"),
    ("announced", "violated/messages/fragments/large", _announced, "a message that announces 4 GiB and ends"),
)  # fmt: skip
for _name, _row, _deed, _what in _DEEDS:
    of.hostile(globals(), f"message.{_name}", _row, of.POINTS["notify"], _deed, f"A client rejects {_what}")
for _name, _row, _deed, _what in (
    ("twice", "violated/handle/prepare/not-batched", followed(lambda f: f), "a second PREPARE before its READY"),
    ("head-cut", "violated/handle/prepare/carries", of.changed(lambda m: m[:5]), "a PREPARE that ends within its head"),
    ("empty", "violated/handle/prepare/carries", of.changed(lambda m: b""), "a PREPARE without octets"),
):  # fmt: skip
    of.hostile(globals(), f"prepare.{_name}", _row, of.FURTHER["prepare"], _deed, f"A client rejects {_what}")
for _name, _list in (
    ("commas", b"1,2"),
    ("letters", b"one two"),
    ("half-range", b"1-"),
    ("binary", b"\0\xff\x80"),
):
    of.hostile(
        globals(), f"index.{_name}", "violated/handle/index/list", of.FURTHER["index"],
        of.changed(message_list=_list), f"A client rejects an INDEX with {_what}",
    )  # fmt: skip
