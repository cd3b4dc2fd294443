"""Steps that cases share.

Knows: peers. Must not know: single cases.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.peer.events import Arrival, Quiet
from amqpspec.wire.amqp_fast_0_8.message import encode_message

NOWHERE = 0x0777
"""A handle, or a channel, that nobody opened; its octets are equal, so that no swap makes it another."""
LEAST_FRAME_MAX = 1024
MISSING_HEAD_OCTETS = len(encode_message(b""))


def subscribe(peer: Peer, name: str, handle: int = 1, channel: int = 1, **fields: Any) -> None:
    """Open a handle, and subscribe to a topic on it; raises Unmet."""
    peer.reader(name, handle, channel, service_type=TOPIC, **fields)


def topic(peer: Peer) -> str:
    """The name of a topic of the case's own."""
    return peer.name("topic")


def with_frame_max(peer: Peer, octets: int) -> None:
    """Raises OutOfReach where the target does not take frames of so many octets."""
    if peer.frame_max_octets < octets:
        raise OutOfReach(f"FRAME_MAX is {peer.frame_max_octets}, the case needs {octets}")


def silent(peer: Peer, *names: str) -> list[CommandArrived]:
    """What of these commands arrives up to the answer to a PING, or has arrived; empty where none does."""
    peer.ping()
    found = peer.stashed(lambda a: isinstance(a, CommandArrived) and a.name in names)
    return [a for a in found if isinstance(a, CommandArrived)]


def closing(peer: Peer) -> Arrival:
    """What comes behind a login that is wrong: a CLOSE or the end; Quiet where the target goes on."""
    arrival = peer.read(peer.now() + peer.context.patience.ending_s)
    while isinstance(arrival, CommandArrived) and arrival.refusal is None:
        arrival = peer.read(peer.now() + peer.context.patience.ending_s)
    return arrival


def quiet(arrival: Arrival) -> bool:
    """Whether nothing came."""
    return isinstance(arrival, Quiet)
