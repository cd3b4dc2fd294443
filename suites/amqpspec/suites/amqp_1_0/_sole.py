"""Steps of sole connections: requested in open, enforced by the target.

Knows: the capability, its policies, what is sent to a connection that has to go. Must not know: single cases.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.wire.amqp_1_0.values import Map, Symbol, Value
from amqpspec.wire.transport import StreamEnded

CAPABILITY = "sole-connection-for-container"
REFUSE, CLOSE_EXISTING = 0, 1
_POLICY, _FAILED = "sole-connection-enforcement-policy", "amqp:connection-establishment-failed"


def wishes(policy: int) -> dict[str, Any]:
    """The fields of an open that asks for the only connection of its container."""
    properties = Map({Symbol(_POLICY): Value("uint", policy)})
    return {"desired_capabilities": (Symbol(CAPABILITY),), "properties": properties}


def offers(opened: FrameArrived, capability: str) -> bool:
    """Whether an open offers a capability."""
    offered = opened["offered_capabilities"] or ()
    return capability in ((offered,) if isinstance(offered, str) else offered)


def sole(peer: Peer, policy: int) -> None:
    """Open as the only connection of this container; raises OutOfReach if the target does not offer that."""
    peer.open_connection(**wishes(policy))
    opened = owed(peer.opened, "open")
    if not offers(opened, CAPABILITY):
        raise OutOfReach(f"the target does not offer {CAPABILITY}", opened)


def replacing(peer: Peer) -> Peer:
    """A second connection of a container whose first one is to give way; raises OutOfReach if it is refused."""
    second = peer.another(container_id=peer.container_id)
    second.open_connection(**wishes(CLOSE_EXISTING))
    if _FAILED in (owed(second.opened, "open")["properties"] or {}):
        raise OutOfReach("the target refuses the second connection with any policy", second.opened)
    return second


def still_there(peer: Peer) -> bool:
    """Whether a connection answers a begin."""
    try:
        peer.barrier(None)
    except (Unmet, StreamEnded):
        return False
    return True


def closed_for(peer: Peer) -> str:
    """The condition of the target's close, once it comes; what came in its place if none does."""
    with suppress(Unmet):
        peer.until(lambda: peer.closed_by is not None, "close")
    closed = peer.closed_by
    return "no close" if closed is None else closed.condition or "no condition"


def refused(peer: Peer) -> tuple[str, str, bool]:
    """Why a connection was closed, the field that its close names, and whether its open announced a failure."""
    condition = closed_for(peer)
    error = None if peer.closed_by is None else peer.closed_by.error
    info = (error["info"] if error is not None else None) or {}
    properties = (peer.opened["properties"] if peer.opened is not None else None) or {}
    # Peers in use differ in the type of what they tell there: that they tell it is what counts.
    return condition, str(info.get("invalid-field", "none")), _FAILED in properties
