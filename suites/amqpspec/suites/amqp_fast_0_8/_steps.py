"""Steps that cases share.

Knows: peers. Must not know: single cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.run.case import Body, case_after
from amqpspec.run.verdict import Verdict
from amqpspec.suites.mechanisms import needs_mechanism

NOWHERE = 0x0777
"""A handle, or a channel, that no one opened; its octets are equal, so that no swap makes it another."""
LEAST_FRAME_MAX = 1024


def on_handle(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Body], Body]:
    """Declare, like ``case``, a case that begins with handle 1 open on channel 1."""
    return case_after(lambda peer: (peer.open_handle(1),), id, covers, **terms)


def on_queue(id: str, covers: Iterable[str], **terms: Any) -> Callable[[Callable[[Any, str], Verdict]], Body]:
    """Like ``on_handle``, with a new queue, whose name the case's function gets."""
    return case_after(lambda peer: (peer.open_handle(1), peer.queue()), id, covers, **terms)


def greeted_with_plain(peer: Peer) -> None:
    """Receive CHALLENGE, which offers PLAIN; raises OutOfReach if it does not."""
    needs_mechanism("PLAIN", peer.greet()["mechanisms"].split())


def subscribe(peer: Peer, name: str, handle: int = 1, channel: int = 1, **fields: Any) -> None:
    """Open a handle, and subscribe to a topic on it; raises Unmet."""
    peer.reader(name, handle, channel, service_type=TOPIC, **fields)


def topic(peer: Peer) -> str:
    """The name of a topic of the case's own."""
    return peer.name("topic")


def with_frame_max(peer: Peer, octets: int) -> None:
    """Raises OutOfReach if the target does not take frames of this many octets."""
    if peer.frame_max_octets < octets:
        raise OutOfReach(f"FRAME_MAX is {peer.frame_max_octets}, the case needs {octets}")


def silent(peer: Peer, *names: str, channels: tuple[int, ...] = ()) -> list[CommandArrived]:
    """What of these commands arrives up to the answer to a PING, and to barriers on channels, or has arrived."""
    peer.ping()
    for channel in channels:
        peer.barrier(channel)
    found = peer.stashed(lambda a: isinstance(a, CommandArrived) and a.name in names)
    return [a for a in found if isinstance(a, CommandArrived)]
