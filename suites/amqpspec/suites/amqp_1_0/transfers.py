"""Messages on links (amqp-1.0 §2.6.11, §2.6.12, §2.6.14): tags, states, settlement, fragments, aborts."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.peer.events import Arrival, Quiet
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._transfers import (
    LARGE,
    NOTHING_RECEIVED,
    SMALLEST_FRAME_OCTETS,
    after_leaving,
    body_of,
    contents,
    credit_at_once,
    cut,
    dispositions,
    in_mode_second,
    octets_of,
    piece,
    pieces,
    put,
    received,
    sender,
    told_by_now,
    unsettled,
)
from amqpspec.wire.amqp_1_0.message import encode_message

_MANY = 20
_ROUNDS = 3
# Short enough to run out while the case waits for it and a while longer.
_TTL_MS = 400

# --- 2.6.11, 2.6.14: fragments


@case(
    "transfers.fragments",
    covers=["transfers/fragments", "transfers/large/additional-transfers", "performatives/transfer/split"],
)
def three_transfers_are_one_message(peer: Peer) -> Verdict:
    """A message in three transfers is one message."""
    link = sender(peer, peer.node())
    peer.claim("one message with the octets of three transfers")
    peer.outcome(pieces(peer, link, cut(octets_of(LARGE), 3)))
    return equals(peer, contents(peer, link.address), [LARGE], "messages")


@case(
    "transfers.fragments.of-target",
    covers=["transfers/fragments", "transfers/large/additional-transfers", "performatives/transfer/split"],
)
def large_message_of_the_target(peer: Peer) -> Verdict:
    """A message larger than the partner's frames arrives complete in several transfers."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    address = peer.node()
    put(peer, address, LARGE)
    peer.claim("one message, more on all its transfers but the last")
    _, (delivery,) = received(peer, address, 1)
    return equals(peer, body_of(delivery), LARGE, "body")


# --- 2.6.12: tags


@case("transfers.delivery-tag", covers=["transfers/delivery-tag"])
def every_delivery_has_a_tag(peer: Peer) -> Verdict:
    """Each delivery of the target has a delivery-tag on its first transfer."""
    address = peer.node()
    put(peer, address, b"1", b"2", b"3")
    peer.claim("a delivery-tag on each delivery")
    _, deliveries = received(peer, address, 3)
    tagged = sum("delivery_tag" in d.transfers[0].given for d in deliveries)
    return equals(peer, tagged, 3, "deliveries with a tag")


@case("transfers.delivery-tag.unique", covers=["transfers/delivery-tag/unique"])
def unsettled_tags_differ(peer: Peer) -> Verdict:
    """Unsettled deliveries from the target have different tags."""
    address = peer.node()
    put(peer, address, *(bytes([number]) for number in range(_MANY)))
    peer.claim(f"{_MANY} different tags on {_MANY} unsettled deliveries")
    _, deliveries = received(peer, address, _MANY, snd_settle_mode="unsettled")
    if all(delivery.settled for delivery in deliveries):
        raise OutOfReach("the target sends everything settled")
    tags = {delivery.tag for delivery in deliveries if not delivery.settled}
    count = sum(not delivery.settled for delivery in deliveries)
    return equals(peer, len(tags), count, f"of {count} unsettled deliveries, different tags")


@case("transfers.delivery-tag.of-redelivery", covers=["transfers/delivery-tag/unique"])
def tag_of_what_comes_again(peer: Peer) -> Verdict:
    """A redelivery of the target has a tag that differs from those of unsettled deliveries."""
    link, (first, second) = unsettled(peer, peer.node(), b"1", b"2")
    peer.disposition(second, state="released")
    peer.credit(link, 1)
    again = peer.delivery(link)
    peer.claim("the released message under another tag than the unsettled one")
    return holds(peer, again.tag != first.tag, f"{'another' if again.tag != first.tag else 'the same'} tag")


@case("transfers.delivery-tag.used-again", covers=["transfers/delivery-tag/unique"])
def tag_of_an_unsettled_delivery(peer: Peer) -> Verdict:
    """The target rejects or tolerates a second delivery with the tag of one that it holds unsettled."""
    # Mode second: the target has reported an outcome, and still holds the delivery unsettled.
    link = in_mode_second(peer, "sender", peer.node())
    first = peer.outcome(peer.transfer(link, b"first"))
    if first.settled_by_target:
        raise Unmet("an unsettled disposition", "a settled one")
    second = peer.transfer(link, b"second", delivery_tag=first.tag)
    return borne(peer, peer.reaction(link=link, delivery=second))


# --- 2.6.12: states and settlement


@case("transfers.states.non-terminal", covers=["transfers/states/non-terminal"])
def received_is_no_outcome(peer: Peer) -> Verdict:
    """A non-terminal state settles nothing; the outcome follows it."""
    # More than once: where the target settles behind its back, the outcome may overtake that sometimes.
    nodes = [peer.node() for _ in range(_ROUNDS)]
    rounds = [(node, *unsettled(peer, node, b"accept", b"release")) for node in nodes]
    peer.claim("no reaction to received; then one message removed, and one available again")
    for node, link, (first, second) in rounds:
        peer.disposition(first, second, settled=False, state=NOTHING_RECEIVED)
        peer.barrier()
        if first.settled_by_target or second.settled_by_target:
            return holds(peer, False, "settled by the target after received")
        peer.disposition(first)
        peer.disposition(second, state="released")
        peer.barrier()
        peer.detach(link)
        left = contents(peer, node, at_least=1)
        if left != [b"release"]:
            break
    return equals(peer, left, [b"release"], "messages")


@case("transfers.states.terminal", covers=["transfers/states/terminal"])
def outcome_is_settled_by_the_sender(peer: Peer) -> Verdict:
    """The target settles after the receiver sends an outcome without settling."""
    address = peer.node()
    put(peer, address, b"message")
    link = in_mode_second(peer, "receiver", address, snd_settle_mode="unsettled")
    peer.credit(link, 1)
    delivery = peer.delivery(link)
    if delivery.settled:
        raise Unmet("an unsettled delivery", "a settled one")
    peer.claim("a settled disposition of the sender, accepted")
    peer.disposition(delivery, settled=False)
    peer.until(lambda: delivery.settled_by_target, "a settled disposition", link=link)
    state = delivery.state_by_target.name if delivery.state_by_target else "no state"
    return holds(peer, state in ("accepted", "no state"), f"settled, {state}")


@case(
    "transfers.states.spontaneous",
    covers=["transfers/states/spontaneous", "transfers/settle-on-ttl"],
    slow=True,
)
def unsettled_beyond_its_time(peer: Peer) -> Verdict:
    """The target may report that an unsettled message has expired; it settles after the receiver."""
    link = peer.receiver(peer.node(), credit=1, snd_settle_mode="unsettled")
    message = encode_message(header={"ttl": _TTL_MS}, data=b"short-lived")
    peer.outcome(peer.transfer(sender(peer, link.address), message=message))
    delivery = peer.delivery(link)
    if delivery.settled:
        raise Unmet("an unsettled delivery", "a settled one")
    peer.claim("nothing, or a disposition that does not settle before the receiver confirms")
    reported = peer.wait(_is_of_sender, _TTL_MS / 1000 + 3 * peer.context.patience.quiet_s)
    if isinstance(reported, Quiet):
        return observed_either_way(peer, "no disposition when the time was over")
    if not (delivery.settled_by_target or delivery.state_by_target):
        return holds(peer, False, reported)
    return holds(peer, not delivery.settled_by_target, reported)


@case("transfers.settled-at-once", covers=["transfers/settled-at-once"])
def settled_transfer_needs_no_disposition(peer: Peer) -> Verdict:
    """A settled transfer arrives and needs no disposition; an unsettled one after it gets one."""
    link = sender(peer, peer.node())
    credit_at_once(peer, link, 2)
    peer.claim("both messages in the node, a disposition for the unsettled one")
    one = peer.transfer_octets(link, b"settled", settled=True)
    settled = link.last_outgoing
    two = peer.transfer_octets(link, b"unsettled")
    peer.send_octets(one + two)
    settled = owed(settled, "an attached link")
    peer.outcome(owed(link.last_outgoing, "an attached link"))
    found = contents(peer, link.address)
    if found != [b"settled", b"unsettled"]:
        return equals(peer, found, [b"settled", b"unsettled"], "messages")
    if settled.is_decided:
        return observed_either_way(peer, f"a needless disposition, {settled.outcome or 'no state'}")
    return holds(peer, True, "both messages, a disposition for the unsettled one only")


@case("transfers.receiver-first", covers=["transfers/receiver-first"])
def receiver_settles_first(peer: Peer) -> Verdict:
    """A delivery that the receiver has accepted and settled is not delivered again."""
    address = peer.node()
    _, (delivery,) = unsettled(peer, address, b"once")
    peer.claim("nothing in the node, and no disposition of the sender")
    peer.disposition(delivery)
    told_by_now(peer)
    needless = dispositions(peer, by_sender=True)
    # Checked after disconnecting: what the target considered unsettled would be back by then.
    found = after_leaving(peer, address)
    if found or not needless:
        return equals(peer, found, [], "messages")
    return observed_either_way(peer, f"nothing in the node; a needless {needless[0].describe(peer.dialect)}")


# --- 2.6.14: large messages


@case(
    "transfers.large.diagram",
    covers=["transfers/large/abort-discard", "transfers/large/additional-transfers"],
)
def every_way_through_the_diagram(peer: Peer) -> Verdict:
    """Every path through the states of an incoming delivery yields one message, or none if it is aborted."""
    link = sender(peer, peer.node())
    # The state diagram of an incoming delivery (amqp-1.0 §2.6.14): 1 leads to RECEIVING or stays there, 0
    # ends in RECEIVED, A in ABORTED; each way is taken from the start, some of them twice in a row.
    ways = ("0", "10", "110", "1A", "11A", "0", "1A", "1A", "1110", "0")
    peer.claim("a message for each path that ends in RECEIVED, none for those that end in ABORTED")
    wanted = []
    for number, way in enumerate(ways):
        body = f"{number}: {way} ".encode() * 30
        _go(peer, link, way, body)
        wanted += [] if way.endswith("A") else [body]
    return equals(peer, contents(peer, link.address, at_least=len(wanted)), wanted, "messages")


@case("transfers.large.interleaved-links", covers=["transfers/large/interleaved-links"])
def fragments_of_two_links(peer: Peer) -> Verdict:
    """Transfers of a message on another link can arrive between the transfers of a message."""
    addresses = peer.node("one"), peer.node("two")
    one, two = (sender(peer, address) for address in addresses)
    bodies = b"1" * 900, b"2" * 900
    halves = [cut(octets_of(body), 3) for body in bodies]
    peer.claim("each message whole in its own node")
    # Strictly alternately, so that two messages are open on the session at each moment.
    for number in range(3):
        pairs = ((one, halves[0]), (two, halves[1]))
        sent = [piece(peer, link, octets[number], more=number < 2) for link, octets in pairs]
    # Before the outcomes, a marker on a third link proves nothing: links are not ordered among each other.
    for outgoing in sent:
        peer.outcome(outgoing)
    found = [contents(peer, address) for address in addresses]
    return equals(peer, found, [[body] for body in bodies], "messages")


@case("transfers.large.not-within-link", covers=["transfers/large/not-within-link"])
def second_delivery_within_the_first(peer: Peer) -> Verdict:
    """The target rejects a delivery that starts on a link before the previous one is complete."""
    link = sender(peer, peer.node())
    session = link.session
    # Five octets of the first, and no more.
    first = piece(peer, link, octets_of(b"one")[:5], more=True)
    second = first.id + 1
    fields = {"delivery_id": second, "delivery_tag": b"another tag", "message_format": 0}
    peer.send("transfer", session.channel, payload=octets_of(b"two"), handle=link, **fields)
    return rejects_violation(peer, link=link)


@case("transfers.large.not-within-link.of-target", covers=["transfers/large/not-within-link"])
def large_messages_of_the_target_in_sequence(peer: Peer) -> Verdict:
    """The target completes one delivery on a link before it starts the next."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    address = peer.node()
    bodies = [bytes([number]) * 1500 for number in range(3)]
    put(peer, address, *bodies)
    peer.claim("three whole messages, one after the other")
    _, deliveries = received(peer, address, 3)
    found = [body_of(delivery) for delivery in deliveries]
    ids = [{t["delivery_id"] for t in d.transfers if "delivery_id" in t.given} for d in deliveries]
    if found != bodies:
        return holds(peer, False, "messages that are not those that were sent")
    return equals(peer, [len(one) for one in ids], [1, 1, 1], "delivery-ids within each delivery")


@case("transfers.large.abort", covers=["transfers/large/abort", "transfers/large/abort-discard"])
def aborted_delivery(peer: Peer) -> Verdict:
    """The target discards an aborted delivery, and the link continues."""
    link = sender(peer, peer.node())
    peer.claim("only the message after the abort")
    _go(peer, link, "11A", b"given up " * 50)
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


# --- steps of this module


def _is_of_sender(arrival: Arrival) -> bool:
    return isinstance(arrival, FrameArrived) and arrival.name == "disposition" and arrival["role"] is False


def _go(peer: Peer, link: Link, way: str, body: bytes) -> None:
    """Send a delivery: 1 and 0 are transfers with and without more, A is one that aborts."""
    data = [step for step in way if step != "A"]
    # One piece more where the delivery is aborted: what was sent is never the whole message.
    octets = cut(octets_of(body), len(data) + way.endswith("A"))
    for step, payload in zip(way, octets, strict=False):
        if step == "A":
            piece(peer, link, aborted=True)
        else:
            piece(peer, link, payload, more=step == "1")
