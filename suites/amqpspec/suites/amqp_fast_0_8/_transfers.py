"""Restartable messages as cases send and take them.

Knows: PREPARE, READY, the rest. Must not know: single cases.
"""

from __future__ import annotations

import hashlib
from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX
from amqpspec.wire.amqp_fast_0_8.message import encode_head

BODY = bytes(range(256)) * 12
"""Three fragments of a client that takes 1024 octets."""


def hash_of(body: bytes) -> str:
    """The SHA1 of a body in hexadecimal."""
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


def restartable(peer: Peer) -> str:
    """Channel 1 is restartable, with handle 1 on it; returns the name of a queue. Fragments have 1024 octets."""
    if not peer.is_open:
        peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel(1, restartable=True)
    peer.open_handle(1)
    return peer.queue()


def head_of(body: bytes, **fields: Any) -> bytes:
    """The head of a message with this body."""
    return encode_head(**{"body_size": len(body), **fields})


def prepare(peer: Peer, head: bytes, first: bytes = b"", handle: int = 1, hash: str = "") -> CommandArrived:
    """Send PREPARE; returns READY. Raises Unmet."""
    peer.send("handle.prepare", handle_id=handle, fragment=head + first, content_hash=hash)
    return peer.expect("handle.ready", handle=handle)


def send_rest(
    peer: Peer, name: str, rest: bytes, handle: int = 1, *, partial: bool = False, tag: int = 0
) -> None:
    """Send what the target lacks, in fragments of 1000 octets; ``partial``: more of it is to follow."""
    pieces = peer.fragments(name, rest, handle, chunk=1000, recovery=True, confirm_tag=tag)
    if partial:
        pieces[-1:] = peer.fragments(
            name, rest[(len(pieces) - 1) * 1000 :], handle, recovery=True, partial=True, confirm_tag=tag
        )
    peer.send_octets(b"".join(pieces))


def upload(peer: Peer, name: str, body: bytes, handle: int = 1, hash: str = "", **head: Any) -> int:
    """A whole restartable upload; returns what READY said. Raises Unmet."""
    size = int(prepare(peer, head_of(body, **head), body[:500], handle, hash)["message_size"])
    send_rest(peer, name, body[size:], handle)
    return size
