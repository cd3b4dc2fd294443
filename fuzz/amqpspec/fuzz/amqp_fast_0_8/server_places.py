"""Where a server's frames are bent for clients of AMQP/Fast.

Knows: scenarios of agents, which command leads where. Must not know: what is bent.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.clients.part import ServerPlace, instead

FAMILIES = ("C02", "C04", "C08", "C09", "C11")
"""Those about sizes, windows, order and tables: logins, entities and selectors are only sent by clients."""
_ENDS = (
    "command/connection.close",
    "command/channel.close",
    "command/handle.close",
    "command/connection.ping",
)
_MESSAGES = ("command/handle.notify", "command/handle.prepare", "command/handle.index")


def server_places() -> Iterator[ServerPlace]:
    """From the challenge to a message."""
    yield instead("server-challenge", "connection.challenge", "connect", "command/connection.challenge")
    yield instead("server-tune", "connection.tune", "connect", "command/connection.tune")
    yield instead("server-opened", "connection.reply", "connect", "command/connection.reply", *_ENDS)
    yield instead("server-channel", "channel.reply", "connect", "command/channel.reply", *_ENDS)
    yield instead("server-handle", "handle.created", "receive", "command/handle.created", *_ENDS)
    yield instead("server-confirmed", "handle.reply", "send", "command/handle.reply", *_ENDS)
    yield instead("server-message", "handle.notify", "receive", *_MESSAGES, "command/handle.reply", *_ENDS)
    yield instead("server-index", "handle.index", "browse", *_MESSAGES, *_ENDS)
