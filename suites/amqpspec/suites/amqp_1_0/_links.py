"""Steps that cases about links share: nodes with something in them, second looks, refused and failed links.

Knows: the peer's verbs. Must not know: single cases.
No step here drains a link: a target that cannot drain is judged where draining is the matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.peer.events import Reaction
from amqpspec.run.oracles import holds
from amqpspec.run.verdict import Verdict
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Map
from amqpspec.wire.transport import StreamEnded

MARK = b"amqpspec: the last one"
# terminus-durability 2 is unsettled-state: the terminus and what is unsettled at it outlive a failure.
DURABLE: Mapping[str, Any] = {"durable": 2, "expiry_policy": "never"}
SENDER, RECEIVER = "sender", "receiver"
FIRST, SECOND = 0, 1
_LOOK_CREDIT = 500
_LARGEST_TRY_OCTETS = 64 << 20
# The upper three octets name a format, the lowest its version: no one has defined this one.
_UNHEARD_OF_FORMAT = 0x07FFFFFF
# Measured on a body that needs a size of four octets, and so right for bodies of 256 octets and more.
_DATA_HEAD_OCTETS = len(encode_message(data=bytes(1 << 16))) - (1 << 16)
LEAST_MESSAGE_OCTETS = 256 + _DATA_HEAD_OCTETS


# --- nodes


def bodies(count: int) -> list[bytes]:
    """This many message bodies, all different."""
    return [f"message {number}".encode() for number in range(count)]


def fill(peer: Peer, address: str, *messages: bytes) -> str:
    """Put messages into a node, over a separate connection; returns the address back."""
    # A separate connection: credit, windows and delivery-ids of the case's session stay untouched.
    other = peer.another()
    link = other.sender(address)
    for message in messages:
        sent = other.outcome(other.transfer(link, message))
        if sent.result != "accepted":
            raise Unmet("accepted", sent.result)
    other.close()
    return address


def filled(peer: Peer, count: int) -> str:
    """The address of a node that holds this many messages."""
    return fill(peer, peer.node(), *bodies(count))


def look(peer: Peer, address: str, wanted: Collection[bytes] = ()) -> list[bytes]:
    """The second look: what a node holds, taken out over a separate connection.

    A mark is put after all of it; the look ends when the mark and what is wanted have arrived, or with the patience.
    Raises Unmet if the mark does not arrive: what precedes it is not known then.
    """
    found = _taken(peer, address, wanted)
    if MARK not in found:
        raise Unmet("the message that was sent to the node after all others", "none")
    return [body for body in found if body != MARK]


def _taken(peer: Peer, address: str, wanted: Collection[bytes] = ()) -> list[bytes]:
    other = peer.another()
    # The mark is the last message of the node. Whatever comes before it was there; what is given back
    # late may come behind, so what is wanted is waited for by name.
    fill(other, address, MARK)
    link = other.receiver(address, credit=_LOOK_CREDIT)
    with suppress(Unmet):
        other.until(lambda: {MARK, *wanted} <= _bodies(link), "the messages in the node", link=link)
    found = other.received(link)
    for delivery in found:
        if not delivery.settled:
            other.disposition(delivery)
    with suppress(Unmet):
        other.close()
    # Some targets continue to deliver to a receiver until its socket is gone.
    other.hang_up()
    return [delivery.body for delivery in found]


def exactly(peer: Peer, count: int, *links: Link) -> Verdict:
    """These links of a session receive this many deliveries in total, and no more although their nodes hold more.

    Proven by accounting: what did not come, and a mark after it, is taken by another receiver, and put back. The
    links have to have no credit beyond what their nodes hold, or the mark may come on them. If the other receiver
    does not get it either, the verdict says for how long there was nothing. A delivery counts from its first transfer:
    a target may send a small message in several, and credit counts deliveries (amqp-1.0 §2.6.7).
    """
    session = links[0].session
    peer.until(lambda: _begun(links) >= count, f"{count} transfers", session=session)
    # After the last that is due: a surplus in progress in the same session comes before the answer.
    peer.barrier(session.channel)
    silent_s = 0.0
    for link in links if _begun(links) == count else ():
        started_s = peer.now()
        left = _taken(peer, link.address)
        if MARK not in left:
            silent_s = peer.now() - started_s
        fill(peer, link.address, *(body for body in left if body != MARK))
    peer.barrier(session.channel)
    within = f", nothing within {silent_s:.0f} s" if silent_s and _begun(links) == count else ""
    return holds(peer, _begun(links) == count, f"transfers {_begun(links)}{within}", f"transfers {count}")


def windowed(peer: Peer, count: int, *links: Link) -> Verdict:
    """As ``exactly`` for a window, which counts transfers; raises OutOfReach if a small message needs several."""

    def is_split() -> bool:
        return any(link.partial or link.transfers > link.begun for link in links)

    peer.until(lambda: is_split() or _begun(links) >= count, f"{count} transfers", session=links[0].session)
    verdict = None if is_split() else exactly(peer, count, *links)
    if verdict is None or is_split():
        raise OutOfReach("the target sends a small message in several transfers")
    return verdict


def passed_by(peer: Peer, link: Link, *wanted: bytes) -> None:
    """What the node of a link holds goes to another receiver, up to a mark after it; or the link gets the mark.

    Raises Unmet if neither gets it: then it is not known what is in progress.
    """
    taken = _taken(peer, link.address, wanted)
    peer.barrier(link.session.channel)
    if MARK not in {*taken, *_bodies(link)}:
        raise Unmet("the message that was sent to the node after all others", "none")


def _begun(links: Iterable[Link]) -> int:
    return sum(link.begun for link in links)


def _bodies(link: Link) -> set[bytes]:
    return {delivery.body for delivery in link.inbox}


def arrived(peer: Peer, link: Link, count: int) -> None:
    """Wait until this many deliveries have arrived on a link in all; raises Unmet if they do not."""
    peer.until(lambda: len(link.inbox) >= count, f"{count} deliveries", link=link)


def settled_arrivals(peer: Peer, link: Link) -> None:
    """Accept and settle what has arrived on a link."""
    for delivery in peer.received(link):
        if not delivery.settled:
            peer.disposition(delivery)


def message_of(octets: int) -> bytes:
    """A message of exactly this many octets."""
    # The size decides at a limit: one octet more or less would test something else.
    return encode_message(data=bytes(octets - _DATA_HEAD_OCTETS))


# --- attaching


def asked(
    peer: Peer, role: str, address: Any = None, channel: int = 0, **fields: Any
) -> tuple[Link, Reaction]:
    """An attach, and what the target does about it."""
    if channel not in peer.books.sessions:
        peer.begin(channel)
    peer.send("attach", channel, **peer.attach_fields(role, address, **fields))
    link = peer.session(channel).every_link[-1]
    # A target may refuse by attach and detach, by end or by close: all of them are watched for.
    reaction = peer.reaction(channel, link=link)
    if link.attached is None and reaction.refusal is None:
        raise Unmet("attach", reaction.describe(peer.dialect), reaction)
    return link, reaction


def refused_attach(peer: Peer, role: str, **fields: Any) -> tuple[Link, Reaction]:
    """An attach to an address that the target refuses; raises OutOfReach if it takes every one."""
    # Three ways in which brokers in use spell a node that cannot be made: a missing exchange, a
    # missing queue, a reserved name. Where nodes do not come with links, any that no one made is one.
    spelled = (f"/exchange/{peer.name('nowhere')}", peer.name("nowhere"), f"amq.{peer.name('nowhere')}")
    names = (peer.address_of(peer.name("nowhere")),) if peer.context.nodes.are_made else spelled
    # A channel each, for a refusal may take its session along.
    for channel, address in enumerate(names):
        peer.room_for_channel(channel)
        link, reaction = asked(peer, role, address, channel, **fields)
        if link.refused or reaction.refusal is not None or reaction.closing is not None:
            return link, reaction
        with suppress(Unmet):
            peer.end(channel)
    raise OutOfReach("the target creates a node for every tested address")


def refused_bare(link: Link) -> bool:
    """Whether the target refused a link without an error, as figure 2.33 of amqp-1.0 shows it."""
    return link.refused and link.detached_by is not None and link.detached_by.condition is None


def names_condition(link: Link, reaction: Reaction) -> None:
    """A prerequisite: the target did not refuse the link without an error; raises OutOfReach."""
    if refused_bare(link):
        raise OutOfReach("the target refuses links without an error", reaction)


def resuming(peer: Peer, role: str, address: Any = None, **fields: Any) -> Link:
    """An attach with an unsettled map; raises OutOfReach if the target says that it resumes nothing."""
    try:
        return peer.attach(role, address, **fields)
    except Unmet as unmet:
        raise left_out(unmet, "links are not resumed") from unmet


def left_out(refused: Unmet, what: str) -> OutOfReach | Unmet:
    """What to raise where an option was refused: OutOfReach if the answer names it as not implemented.

    That condition alone says that a matter is left out; after any other one, and after a bare end, the case is judged.
    """
    named = refused.code == "amqp:not-implemented"
    return OutOfReach(f"{what}: {refused.observed}", refused.seen) if named else refused


def must_attach(peer: Peer, link: Link, reaction: Reaction, what: str) -> None:
    """A prerequisite: the attach was not refused; raises as ``left_out`` says, ``what`` being what is left out then."""
    if reaction.refusal is not None or link.attached is None:
        raise left_out(Unmet("an attached link", reaction.describe(peer.dialect), reaction), what)
    if link.refused:
        raise Unmet("an attached link", "attach without a terminus", reaction)


def states(*tags: bytes, state: str = "accepted") -> Map:
    """An unsettled map with one state for all tags."""
    fields: dict[str, Any] = {"section_number": 0, "section_offset": 0} if state == "received" else {}
    return Map({tag: encode_composite(state, **fields) for tag in tags})


def own_terminus(link: Link) -> Any:
    """The target's own terminus in its attach: the source if it sends."""
    return owed(link.attached, "attach")["target" if link.is_sender else "source"]


def partners_terminus(link: Link) -> Any:
    """The peer's terminus, as the target's attach has it."""
    return owed(link.attached, "attach")["source" if link.is_sender else "target"]


def unsettled_of(link: Link) -> Mapping[Any, Any]:
    """The unsettled map of the target's attach; empty if there is none."""
    return owed(link.attached, "attach")["unsettled"] or {}


# --- the same container again


def twin(peer: Peer, **open_fields: Any) -> Peer:
    """A second connection of the same container, with a session; raises OutOfReach if the target takes none."""
    # Link names are unique between two containers (amqp-1.0 §2.6.1): to meet a name again, the
    # container-id has to be the same.
    other = peer.another(container_id=peer.container_id)
    try:
        other.open_connection(**open_fields)
    except (Unmet, StreamEnded) as refused:
        seen = refused.seen if isinstance(refused, Unmet) else None
        raise OutOfReach(f"a second connection of one container: {refused}", seen) from refused
    other.begin()
    return other


def reborn(peer: Peer, **open_fields: Any) -> Peer:
    """The same container on a new connection with a session, the one before being closed."""
    peer.close()
    other = peer.another(container_id=peer.container_id)
    other.open_connection(**open_fields)
    other.begin()
    return other


def second_mode(peer: Peer, address: str, **fields: Any) -> Link:
    """A link to send to a node whose receiver settles second; raises OutOfReach if the target has not that mode."""
    link, reaction = asked(peer, SENDER, address, rcv_settle_mode=SECOND, **fields)
    must_attach(peer, link, reaction, "no receiver that settles second")
    # The receiver's attach says which mode it really uses (amqp-1.0 §2.7.3).
    if owed(link.attached, "attach")["rcv_settle_mode"] != SECOND:
        raise OutOfReach("the target's receivers settle first", link.attached)
    return link


def unsettled(peer: Peer, link: Link, count: int) -> list[Delivery]:
    """This many deliveries on a link, none of them settled."""
    peer.credit(link, count)
    found = peer.deliveries(link, count)
    if any(delivery.settled for delivery in found):
        raise OutOfReach("the target settles what it sends")
    return found


# --- links that fail


def oversize(link: Link) -> bytes | None:
    """A message larger than the target accepts on a link, if one can be made."""
    limit = link.max_message_size
    return message_of(limit + 1) if 0 < limit <= _LARGEST_TRY_OCTETS else None


def breach(peer: Peer, link: Link) -> bytes:
    """The transfers of a message that the target's end of the link cannot take."""
    # Which way a link fails is the target's affair: a message too large, if there is a limit, else a
    # format that no one knows.
    message = oversize(link)
    if message is not None:
        return peer.transfer_octets(link, message=message)
    return peer.transfer_octets(link, b"x", message_format=_UNHEARD_OF_FORMAT)


def failed(peer: Peer, link: Link) -> Reaction:
    """Make the target's end of a link fail; raises OutOfReach if no way is known to do that."""
    peer.credit_for(link)
    peer.send_octets(breach(peer, link))
    reaction = peer.reaction(link=link)
    # Without an error it is no failure, and the rules on failed links do not apply (amqp-1.0 §2.6.5).
    if link.detached_by is None or link.detached_by.condition is None:
        raise OutOfReach(
            f"no known way to make a link of this target fail: {reaction.describe(peer.dialect)}", reaction
        )
    return reaction


def failed_open(peer: Peer, link: Link) -> Reaction:
    """As ``failed``; raises OutOfReach if the target closes the link with it, for then the name is free."""
    reaction = failed(peer, link)
    if owed(link.detached_by, "detach")["closed"]:
        raise OutOfReach("the target closes a link that fails: an attach begins a new one", reaction)
    return reaction
