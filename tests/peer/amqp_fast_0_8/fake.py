"""A target of AMQP/Fast in memory: what it says is written down beforehand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame
from tests.peer.fake import PATIENCE, FakeTransport, Said, context

says = command_frame
FIRST_TAG = 0x0102
"""The tag of the first command that a peer has confirmed; the next one's is one more."""


def reply(tier: str, tag: int = FIRST_TAG, code: int = 200, **fields: Any) -> bytes:
    return says(f"{tier}.reply", confirm_tag=tag, reply_code=code, reply_text="so", **fields)


CHALLENGE = says("connection.challenge", version=1, mechanisms="PLAIN")
TUNE = says("connection.tune", options={"FRAME_MAX": 5000})
LOGGED_IN = CHALLENGE + TUNE
OPENED = LOGGED_IN + reply("connection")
CHANNEL = OPENED + reply("channel", FIRST_TAG + 1, channel_id=1)
HANDLE = CHANNEL + reply("handle", FIRST_TAG + 2, handle_id=1)
NEXT_TAG = FIRST_TAG + 3
"""The tag of the first command after an open handle."""


def peer(*script: Said, **facts: Any) -> tuple[Peer, FakeTransport]:
    """A peer whose target speaks a script."""
    transport = FakeTransport(*script)
    return Peer(replace(context(transport, **facts), dialect="amqp-fast-0-8", patience=PATIENCE)), transport


def heard(transport: FakeTransport) -> list[CommandFrame]:
    """The commands that were sent to the target."""
    reader = CommandReader(greets=True, name="client→server")
    reader.feed(bytes(transport.sent))
    return [item for item in iter(reader.next, None) if isinstance(item, CommandFrame)]


def names(transport: FakeTransport) -> list[str]:
    """The commands that were sent, by name."""
    return [frame.name for frame in heard(transport)]
