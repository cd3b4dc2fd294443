"""Messages: the head, and the fragments into which head and body are cut.

Knows: the fields of the head, which fragments begin with one. Must not know: channels, destinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Payload
from amqpspec.wire.amqp_fast_0_8.fields import FieldRun
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.errors import EncodeError

_HEAD = FieldRun(DIALECT.message_head)


class Opened(NamedTuple):
    """What a first fragment holds: the fields of the head by their keys, and the first octets of the body."""

    head: Mapping[str, Any]
    body: bytes


def encode_head(**fields: Any) -> bytes:
    """A message head as octets, legal or not: see ``FieldRun.write``."""
    try:
        return _HEAD.write(fields, "message head")
    except EncodeError as error:
        raise EncodeError(f"message head {error.where}", error.expected, error.actual) from error


def encode_message(body: bytes = b"", /, **head: Any) -> bytes:
    """Head and body of a message; ``body_size`` is that of the body unless it is given."""
    return encode_head(**{"body_size": len(body), **head}) + body


def decode_opening(octets: bytes) -> Opened:
    """The head that begins a first fragment, and what follows it; raises WireError."""
    head: dict[str, Any] = {}
    end = _HEAD.read(octets, 0, head)
    return Opened(head, octets[end:])


def cut(message: bytes, most_octets: int) -> Iterator[tuple[bytes, bool]]:
    """A message in fragments of this many octets; with each, whether it is ``partial``: every one but the last."""
    for at in range(0, len(message) or 1, most_octets):
        yield message[at : at + most_octets], at + most_octets < len(message)


class Openings:
    """Tells which fragments of one direction begin with a message head.

    That is the first one of each message, except for the rest of a restarted one (``recovery``), whose head came with
    PREPARE. A message stays on its handle, and is over with the first fragment that is not ``partial``.
    """

    def __init__(self) -> None:
        self._within: set[int] = set()

    def opens(self, frame: CommandFrame) -> bool:
        """Whether the fragment after this command begins with a head."""
        payload = frame.command.payload if frame.command else Payload.NONE
        if payload is Payload.FRAGMENT:
            return not frame.args.get("recovery") and frame.args.get("handle_id") not in self._within
        return payload is Payload.HEAD

    def follow(self, frame: CommandFrame) -> None:
        """Take notice of a command, with or without a fragment."""
        handle = frame.args.get("handle_id")
        if handle is None:
            return
        if frame.args.get("partial"):
            self._within.add(handle)
        elif "partial" in frame.args or frame.name in ("handle.open", "handle.close"):
            self._within.discard(handle)
