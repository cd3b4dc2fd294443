"""Where a server's frames are bent for clients of the 0-9 family.

Knows: scenarios of agents, which frame leads where. Must not know: what is bent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amqpspec.fuzz.clients.part import ServerPlace, instead
from amqpspec.fuzz.grammar import grammar
from amqpspec.spec.model import Side

_ANY_TIME = ("method/connection.close", "method/channel.close", "frame/heartbeat")
_PARTS = ("header/", "body")
"""Parts of a content, which both sides send."""
_DELIVERED = (
    "content/basic.deliver",
    "method/basic.cancel",
    "method/basic.consume-ok",
    "method/channel.flow",
)
_CONTENT = ("header/basic", "header/basic/bare", "body")


def server_places(dialect_id: str) -> Iterator[ServerPlace]:
    """From start to the middle of a content, with what servers of the dialect may send."""
    known = grammar(dialect_id)

    def may_come(name: str) -> bool:
        return known[name].sent_by is not Side.CLIENT or name.startswith(_PARTS)

    for place in _PLACES:
        following = tuple(name for name in place.next if may_come(name))
        yield replace(place, next=following)


_PLACES = (
    instead("server-start", "connection.start", "connect", "method/connection.start"),
    instead("server-tune", "connection.tune", "connect", "method/connection.tune"),
    instead("server-open-ok", "connection.open-ok", "connect", "method/connection.open-ok", _ANY_TIME[0]),
    ServerPlace("server-channel", "channel.open-ok", "consume", ("method/channel.open-ok", *_ANY_TIME)),
    instead("server-declare", "queue.declare-ok", "consume", "method/queue.declare-ok", *_ANY_TIME),
    ServerPlace("server-consume", "basic.consume-ok", "consume", (*_DELIVERED, *_ANY_TIME)),
    ServerPlace("server-content", "basic.deliver", "consume", (*_CONTENT, *_ANY_TIME)),
    instead("server-get", "basic.get-ok", "get", "content/basic.get-ok"),
    instead("server-return", "basic.return", "return", "content/basic.return"),
)
