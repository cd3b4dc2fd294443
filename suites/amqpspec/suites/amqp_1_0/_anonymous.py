"""Steps of the anonymous terminus: links without address, messages that name their destination.

Knows: the capability that announces it. Must not know: single cases.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, owed
from amqpspec.suites.amqp_1_0._sole import offers
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Symbol

_RELAY = "ANONYMOUS-RELAY"
WITHOUT_REJECTED = (Symbol("amqp:accepted:list"), Symbol("amqp:released:list"))
_OUTCOMES = (*WITHOUT_REJECTED, Symbol("amqp:rejected:list"))


def announced(peer: Peer) -> None:
    """A prerequisite: the target offers the anonymous terminus; raises OutOfReach."""
    if peer.opened is None:
        peer.open_connection()
    opened = owed(peer.opened, "open")
    if not offers(opened, _RELAY):
        raise OutOfReach(f"the target does not offer {_RELAY}", opened)


def anonymous(peer: Peer, *, outcomes: tuple[Symbol, ...] = _OUTCOMES) -> Link:
    """A link to the anonymous terminus; raises OutOfReach if the target does not offer it."""
    announced(peer)
    return peer.attach("sender", "", target={}, source={"outcomes": outcomes})


def addressed(peer: Peer, link: Link, to: str, body: bytes, **fields: Any) -> Outgoing:
    """Send a message that names its destination."""
    return peer.transfer(link, message=encode_message(properties={"to": to}, data=body), **fields)
