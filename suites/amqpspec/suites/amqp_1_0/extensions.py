"""Extensions that an open announces: the anonymous terminus, and one connection for each container."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._anonymous import WITHOUT_REJECTED, addressed, announced, anonymous
from amqpspec.suites.amqp_1_0._links import look, refused_attach
from amqpspec.suites.amqp_1_0._sole import (
    CLOSE_EXISTING,
    REFUSE,
    closed_for,
    refused,
    replacing,
    sole,
    still_there,
    wishes,
)

# --- the anonymous terminus


@case("anonymous.attach", covers=["anonymous/attach"])
def anonymous_link(peer: Peer) -> Verdict:
    """The target accepts a link whose target has no address: its attach has a target, and it grants credit."""
    announced(peer)
    peer.claim("a link with a target, and credit")
    link = anonymous(peer)
    peer.credit_for(link)
    return holds(peer, not link.refused, "a target, and credit", seen=link.attached)


@case("anonymous.to", covers=["anonymous/to"])
def routed_by_to(peer: Peer) -> Verdict:
    """Each message on a link without address reaches the node that it names, and no other."""
    announced(peer)
    addresses = [peer.node(), peer.node()]
    link = anonymous(peer)
    peer.claim("two messages in the first node, one in the second")
    outcomes = [
        peer.outcome(addressed(peer, link, addresses[number], body)).result
        for number, body in ((0, b"one"), (1, b"two"), (0, b"three"))
    ]
    wanted = [[b"one", b"three"], [b"two"]]
    found = [look(peer, address, own) for address, own in zip(addresses, wanted, strict=True)]
    return equals(peer, (outcomes, found), (["accepted"] * 3, wanted), "outcomes, and messages by node")


@case("anonymous.unroutable", covers=["anonymous/unroutable"])
def unroutable_message(peer: Peer) -> Verdict:
    """The target rejects a message to an unknown address with the error of an attach to it; the link continues."""
    nowhere, condition = _nowhere(peer)
    link, address = anonymous(peer), peer.node()
    peer.claim(f"rejected with {condition}, and the next message accepted")
    outgoing = peer.outcome(addressed(peer, link, nowhere, b"lost"))
    error = None if outgoing.state is None else outgoing.state.get("error")
    seen = (outgoing.outcome, None if error is None else str(error["condition"]))
    after = peer.outcome(addressed(peer, link, address, b"found")).result
    return equals(
        peer, (*seen, after), ("rejected", condition, "accepted"), "outcome, condition, next outcome"
    )


@case("anonymous.unroutable.settled", covers=["anonymous/unroutable/settled"])
def unroutable_settled_message(peer: Peer) -> Verdict:
    """A settled message to an unknown address cannot be rejected: the target detaches the link with that error."""
    nowhere, condition = _nowhere(peer)
    return _detaches(peer, anonymous(peer), nowhere, condition, settled=True)


@case("anonymous.unroutable.without-rejected", covers=["anonymous/unroutable/without-rejected"])
def unroutable_without_rejected(peer: Peer) -> Verdict:
    """Where the source knows no rejected, a message to an unknown address detaches the link with that error."""
    nowhere, condition = _nowhere(peer)
    return _detaches(peer, anonymous(peer, outcomes=WITHOUT_REJECTED), nowhere, condition)


# --- one connection for each container


@case("sole-connection.refused", covers=["sole-connection/refused"])
def second_connection_is_refused(peer: Peer) -> Verdict:
    """A second connection of a container with the sole-connection policy fails; another container can connect."""
    sole(peer, REFUSE)
    peer.claim(
        "open that announces a failure, close with invalid-field on container-id; other connections continue to work"
    )
    second = peer.another(container_id=peer.container_id)
    second.greet()
    second.send("open", **wishes(REFUSE))
    wanted = ("amqp:invalid-field", "container-id", True)
    verdict = equals(peer, refused(second), wanted, "condition, field, failure reported")
    seen = (still_there(peer), still_there(peer.another().open_connection()))
    others = equals(peer, seen, (True, True), "the first connection, another container's")
    return worst((verdict, others))


@case("sole-connection.replaced", covers=["sole-connection/replaced"])
def first_connection_is_replaced(peer: Peer) -> Verdict:
    """If the policy replaces the first connection, a second one of the container opens and the first is closed."""
    beside = peer.another().open_connection()
    sole(peer, CLOSE_EXISTING)
    peer.claim(
        "the first connection closed with resource-locked, the second one open, another container's untouched"
    )
    second = replacing(peer)
    seen = (closed_for(peer), still_there(second), still_there(beside))
    return equals(peer, seen, ("amqp:resource-locked", True, True), "condition, second, beside")


# --- steps of this module


def _nowhere(peer: Peer) -> tuple[str, str]:
    """An address that names nothing, and what an attach to it meets; raises OutOfReach if there is none."""
    announced(peer)
    other = peer.another()
    link, reaction = refused_attach(other, "sender")
    refusal = reaction.refusal
    if refusal is None or refusal.code is None:
        raise Unmet("a refusal with a condition", reaction.describe(peer.dialect), reaction)
    return link.address, str(refusal.code)


def _detaches(peer: Peer, link: Link, to: str, condition: str, **fields: Any) -> Verdict:
    """A message to an address that names nothing detaches its link with that condition."""
    peer.claim(f"detach with {condition}")
    addressed(peer, link, to, b"lost", **fields)
    reaction = peer.reaction(link=link)
    told = link.detached_by is not None and link.detached_by.condition == condition
    return holds(peer, told, reaction)
