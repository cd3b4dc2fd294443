"""Steps of transactions: control links, declare and discharge, work in a transaction.

Knows: the messages of the coordinator, how its answers are read. Must not know: single cases.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.peer.events import Reaction
from amqpspec.suites.amqp_1_0._links import own_terminus
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Raw, Symbol

LOCAL = "amqp:local-transactions"
ACCEPTED, REJECTED = Symbol("amqp:accepted:list"), Symbol("amqp:rejected:list")
_UNHEARD_OF = b"\xfe\xdc\xba\x98"
STATE = "transactional-state"


# --- the control link


def control(peer: Peer, channel: int = 0, *, outcomes: tuple[Symbol, ...] = (ACCEPTED, REJECTED)) -> Link:
    """A link to the coordinator with credit; raises OutOfReach if the target refuses such a link."""
    target = encode_composite("coordinator", capabilities=(Symbol(LOCAL),))
    try:
        link = peer.attach("sender", "", channel, target=target, source={"outcomes": outcomes})
    except Unmet as unmet:
        # Part 4 is an option: a target without a coordinator refuses the link with any condition, or by a detach
        # without one (amqp-1.0 §2.6.3).
        if unmet.code is not None or (isinstance(unmet.seen, FrameArrived) and unmet.seen.name == "detach"):
            raise OutOfReach(f"no coordinator: {unmet.observed}", unmet.seen) from unmet
        raise
    peer.credit_for(link)
    return link


def capabilities(link: Link) -> tuple[str, ...]:
    """What the coordinator of a control link can do, as the target's attach tells."""
    told = owed(own_terminus(link), "a coordinator in attach")["capabilities"] or ()
    return tuple(map(str, (told,) if isinstance(told, str) else told))


def able(link: Link, capability: str) -> None:
    """A prerequisite: the coordinator announces a capability; raises OutOfReach."""
    if capability not in capabilities(link):
        raise OutOfReach(f"the coordinator does not announce {capability}", link.attached)


def declare(peer: Peer, link: Link) -> Any:
    """A new transaction; returns its id as received. Raises Unmet for another outcome than declared."""
    outgoing = told(peer, declaring(peer, link))
    if outgoing.outcome != "declared":
        raise Unmet("declared", outgoing.outcome or "no state")
    return owed(outgoing.state, "a state")["txn_id"]


def declaring(peer: Peer, link: Link, **fields: Any) -> Outgoing:
    """Send a declare."""
    return peer.transfer(link, message=encode_message(value=encode_composite("declare")), **fields)


def discharging(peer: Peer, link: Link, txn_id: Any, *, fail: bool, **fields: Any) -> Outgoing:
    """Send a discharge."""
    body = encode_composite("discharge", txn_id=txn_id, fail=fail)
    return peer.transfer(link, message=encode_message(value=body), **fields)


def discharge(peer: Peer, link: Link, txn_id: Any, *, fail: bool = False) -> str:
    """End a transaction; returns the outcome. Raises Unmet if none arrives."""
    return told(peer, discharging(peer, link, txn_id, fail=fail)).outcome


def must_discharge(peer: Peer, link: Link, txn_id: Any, *, fail: bool = False) -> None:
    """End a transaction; raises Unmet if that is not accepted."""
    outcome = discharge(peer, link, txn_id, fail=fail)
    if outcome not in ("accepted", ""):
        raise Unmet("a discharge that is accepted", outcome)


def told(peer: Peer, outgoing: Outgoing) -> Outgoing:
    """Wait until the target has reported a state of a delivery, of any kind, or settled it; raises Unmet."""
    peer.until(
        lambda: outgoing.state is not None or outgoing.settled_by_target,
        "an outcome of the delivery",
        link=outgoing.link,
    )
    return outgoing


def unknown_id() -> bytes:
    """An id that no target has given."""
    return _UNHEARD_OF


def refusal_of(peer: Peer, link: Link, outgoing: Outgoing) -> Reaction:
    """What the target does about a delivery of which a refusal is due."""
    return peer.reaction(link.session.channel, link=link, delivery=outgoing)


# --- work


def within(txn_id: Any, outcome: str | None = None) -> Raw:
    """The state of a delivery in a transaction, with its provisional outcome."""
    fields: dict[str, Any] = {} if outcome is None else {"outcome": encode_composite(outcome)}
    return encode_composite(STATE, txn_id=txn_id, **fields)


def post(peer: Peer, link: Link, txn_id: Any, body: bytes, **fields: Any) -> Outgoing:
    """Post a message in a transaction; waits for its state if it is sent unsettled."""
    outgoing = peer.transfer(link, body, state=within(txn_id), **fields)
    return outgoing if outgoing.settled else told(peer, outgoing)


def provisional(outgoing: Outgoing) -> tuple[Any, str]:
    """The id and the outcome in the state of a delivery that was posted; none and its own name for another state."""
    state = outgoing.state
    if state is None or state.name != STATE:
        return None, outgoing.outcome
    outcome = state.get("outcome")
    return state["txn_id"], outcome.name if isinstance(outcome, Composed) else ""


def retire(peer: Peer, delivery: Delivery, txn_id: Any, outcome: str, *, settled: bool) -> None:
    """Give a delivery an outcome in a transaction."""
    peer.disposition(delivery, state=within(txn_id, outcome), settled=settled)


# --- the result


def names_an_id(state: Any) -> tuple[str, bool]:
    """The name of an outcome, and whether it carries an id."""
    if state is None:
        return "", False
    return state.name, state.name == "declared" and state.get("txn_id") is not None


def acquired_in(transfer: FrameArrived) -> Any:
    """The id of the transaction in which a delivery was acquired; None for another state."""
    state = transfer["state"]
    return state["txn_id"] if getattr(state, "name", "") == STATE else None


def settled_early(*deliveries: Delivery) -> bool:
    """Whether the target has settled one of what it sent unsettled."""
    return any(delivery.settled_by_target for delivery in deliveries)
