"""The tap keeps what arrived before a reset, whichever is noticed first."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from amqpspec.reference.tap import Manners, Tap
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_1_0.conversations import TypedReading
from amqpspec.wire.conversation import Talk
from tests.run.clients.recorded import Talks


class _Transport(asyncio.Transport):
    """A transport that knows its socket and nothing else."""

    def __init__(self, end: socket.socket) -> None:
        super().__init__({"socket": end})


def _lost(octets: bytes, error: Exception | None) -> Talk:
    """What a tap has kept if its socket is lost while octets of the client are waiting."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.sendall(octets)
        tap = Tap(asyncio.Protocol(), Talk(1), Talks(), Manners(TypedReading()))
        tap.transport = cast(asyncio.Transport, _Transport(ours))
        tap.connection_lost(error)
        return tap.talk


def test_what_came_before_a_failed_write_is_kept() -> None:
    talk = _lost(b"the last frame", BrokenPipeError())
    assert [(chunk.sender, chunk.octets) for chunk in talk.chunks] == [(Side.CLIENT, b"the last frame")]
    assert talk.ended == "RST"


def test_nothing_is_read_where_nothing_failed() -> None:
    assert _lost(b"more", None).chunks == []


def test_a_socket_in_which_nothing_waits_is_left() -> None:
    assert _lost(b"", ConnectionResetError()).chunks == []
