"""Deliveries resumed with their link (amqp-1.0 §2.6.13, resume in §2.7.5): which side continues, and how."""

from __future__ import annotations

from contextlib import suppress

from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import passed_by
from amqpspec.suites.amqp_1_0._transfers import (
    LARGE,
    NOTHING_RECEIVED,
    SMALLEST_FRAME_OCTETS,
    after_leaving,
    body_of,
    contents,
    in_mode_second,
    octets_of,
    piece,
    put,
    sender,
    unsettled,
)
from amqpspec.suites.amqp_1_0._transfers_resume import (
    begun_and_suspended,
    expires,
    is_incomplete,
    known,
    nothing_received,
    outcomes_told,
    reported_unsettled,
    resume,
    resumed_delivery,
    suspend,
)
from amqpspec.wire.amqp_1_0.performatives import encode_composite

_NEEDS = ("resume",)
_UNKNOWN = b"nobody knows it"
# More credit than anything is due for: what should not come could.
_SEVERAL = 10

# --- 2.6.13: what each side holds


@case("transfers.resuming.unsettled-map", covers=["transfers/resuming/unsettled-map"], needs=_NEEDS)
def map_of_the_target(peer: Peer) -> Verdict:
    """When a link is resumed, the target's attach reports every delivery that it holds unsettled."""
    link, deliveries = unsettled(peer, peer.node(), b"1", b"2", b"3")
    other, beside = unsettled(peer, peer.node("other"), b"4", b"5")
    peer.claim("what is unsettled of each link in its map, without an outcome, and nothing else")
    peer.disposition(deliveries[1])
    found = []
    for one, held in ((link, (deliveries[0], deliveries[2])), (other, beside)):
        suspend(peer, one)
        # What the peer reports about a delivery that it has settled means nothing: it is not in its own map either.
        found.append(outcomes_told(resume(peer, one, nothing_received(held))))
    wanted = [{one.tag: "" for one in held} for held in ((deliveries[0], deliveries[2]), beside)]
    return equals(peer, found, wanted, "outcomes by tag")


@case(
    "transfers.resuming.unsettled-map.another-connection",
    covers=["transfers/resuming/unsettled-map", "transfers/resuming/both"],
    needs=_NEEDS,
)
def map_on_another_connection(peer: Peer) -> Verdict:
    """A link whose source never expires can be resumed on another connection of the container."""
    address = peer.node()
    source = {"address": address, "expiry_policy": "never"}
    link, (before,) = unsettled(peer, address, b"message", source=source)
    expires(link, "never")
    peer.claim("the delivery-tag in the target's unsettled map, then the delivery, resumed")
    peer.close()
    peer.hang_up()
    other = peer.another(container_id=peer.container_id)
    again = resume(other, link, nothing_received([before]), source=source)
    if before.tag not in reported_unsettled(again):
        return holds(peer, False, "a map without the delivery")
    other.credit(again, 1)
    delivery = resumed_delivery(other, again, before.tag)
    other.disposition(delivery)
    return holds(peer, delivery.resume, f"resume {delivery.resume}")


@case("transfers.resuming.source-only", covers=["transfers/resuming/source-only"], needs=_NEEDS)
def unsettled_for_the_source_alone(peer: Peer) -> Verdict:
    """A delivery unsettled only at the source is resumed, sent again or left in the node; it is not lost."""
    address = peer.node()
    link, _ = unsettled(peer, address, b"message")
    suspend(peer, link)
    peer.claim("a message that is not lost")
    again = resume(peer, link, {})
    peer.credit(again, 1)
    with suppress(Unmet):
        peer.until(lambda: bool(again.inbox), "a delivery", link=again)
    way = "left"
    for delivery in peer.received(again):
        way = "resumed" if delivery.resume else "sent anew"
        peer.disposition(delivery, state="released")
    peer.detach(again)
    found = after_leaving(peer, address, at_least=1)
    if found != [b"message"]:
        return equals(peer, found, [b"message"], "messages")
    return observed_either_way(peer, way)


@case("transfers.resuming.unknown-ignored", covers=["transfers/resuming/unknown-ignored"], needs=_NEEDS)
def resumed_under_an_unknown_tag(peer: Peer) -> Verdict:
    """The target ignores a resumed delivery that it does not know."""
    link = sender(peer, peer.node())
    peer.outcome(peer.transfer(link, b"first"))
    suspend(peer, link)
    again = resume(peer, link, {_UNKNOWN: NOTHING_RECEIVED})
    peer.claim("the message of the resumed delivery not in the node, and no error")
    piece(peer, again, octets_of(b"unknown"), delivery_tag=_UNKNOWN, resume=True)
    peer.outcome(peer.transfer(again, b"second"))
    return equals(peer, contents(peer, link.address), [b"first", b"second"], "messages")


@case(
    "transfers.resuming.target-only",
    covers=["transfers/resuming/target-only", "performatives/transfer/resume/known-only"],
    needs=_NEEDS,
)
def unsettled_for_the_receiver_alone(peer: Peer) -> Verdict:
    """The target does not resume a tag that only the receiver holds unsettled."""
    address = peer.node()
    link, (delivery,) = unsettled(peer, address, b"first")
    peer.disposition(delivery)
    suspend(peer, link)
    again = resume(peer, link, {_UNKNOWN: NOTHING_RECEIVED})
    peer.claim("the next message only, not resumed")
    peer.credit(again, _SEVERAL)
    put(peer, address, b"second")
    come = [peer.delivery(again)]
    peer.barrier()
    come += peer.received(again)
    found = [(body_of(one), one.resume, one.tag == _UNKNOWN) for one in come]
    return equals(peer, found, [(b"second", False, False)], "body, resume, unknown tag of deliveries")


@case(
    "transfers.resuming.target-only-settled", covers=["transfers/resuming/target-only-settled"], needs=_NEEDS
)
def unsettled_for_the_target_alone(peer: Peer) -> Verdict:
    """As a receiver, the target treats deliveries that the sender's map lacks as settled."""
    link = in_mode_second(peer, "sender", peer.node())
    kept, dropped = (peer.outcome(peer.transfer(link, body)) for body in (b"kept", b"dropped"))
    if kept.settled_by_target or dropped.settled_by_target:
        raise Unmet("unsettled dispositions", "a settled one")
    suspend(peer, link)
    mine = {kept.tag: NOTHING_RECEIVED}
    first = resume(peer, link, mine, rcv_settle_mode="second")
    peer.claim("on the second resumption, nothing more of what the sender's map lacked")
    suspend(peer, first)
    second = resume(peer, link, mine, rcv_settle_mode="second")
    return holds(
        peer,
        dropped.tag not in reported_unsettled(second),
        _reported(dropped.tag in reported_unsettled(second)),
    )


@case(
    "transfers.resuming.both",
    covers=["transfers/resuming/both", "transfers/resuming/resume-flag"],
    needs=_NEEDS,
)
def unsettled_for_both(peer: Peer) -> Verdict:
    """The target resumes deliveries that both sides hold unsettled, with the same tag and the resume flag."""
    address = peer.node()
    link, (before,) = unsettled(peer, address, b"message")
    peer.claim("a transfer of the same tag and message, with resume")
    suspend(peer, link)
    again = resume(peer, link, nothing_received([before]))
    known(peer, again, before.tag)
    peer.credit(again, 1)
    delivery = resumed_delivery(peer, again, before.tag)
    observed = f"body {body_of(delivery)!r}, resume {delivery.resume}"
    return holds(peer, delivery.resume and body_of(delivery) == b"message", observed)


@case(
    "transfers.resuming.large",
    covers=["performatives/transfer/resume/first", "transfers/resuming/resume-flag"],
    needs=_NEEDS,
)
def large_message_resumed(peer: Peer) -> Verdict:
    """A resumed delivery of several transfers has the resume flag on the first one."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    link, (before,) = unsettled(peer, peer.node(), LARGE)
    suspend(peer, link)
    peer.claim("resume on the first of several transfers, and the whole message")
    again = resume(peer, link, nothing_received([before]))
    known(peer, again, before.tag)
    peer.credit(again, 1)
    delivery = resumed_delivery(peer, again, before.tag)
    whole = body_of(delivery) == LARGE
    observed = (
        f"{'the whole' if whole else 'another'} message, resume {delivery.resume} on the first transfer"
    )
    return holds(peer, whole and delivery.resume, observed)


# --- 2.6.13: incomplete maps


@case(
    "transfers.resuming.incomplete.no-evidence",
    covers=["transfers/resuming/incomplete/no-evidence"],
    needs=_NEEDS,
)
def what_an_incomplete_map_lacks(peer: Peer) -> Verdict:
    """Deliveries that an incomplete map of the receiver lacks stay unsettled at the target."""
    link, deliveries = unsettled(peer, peer.node(), b"1", b"2", b"3")
    suspend(peer, link)
    first = resume(peer, link, nothing_received(deliveries[:1]), incomplete_unsettled=True)
    known(peer, first, deliveries[0].tag)
    peer.claim("all that was unsettled in the target's map on the next, complete, resumption")
    suspend(peer, first)
    second = resume(peer, link, nothing_received(deliveries))
    reported = sum(delivery.tag in reported_unsettled(second) for delivery in deliveries)
    return equals(peer, reported, 3, "unsettled deliveries reported")


@case("transfers.resuming.incomplete.reduce", covers=["transfers/resuming/incomplete/reduce"], needs=_NEEDS)
def what_an_incomplete_map_has(peer: Peer) -> Verdict:
    """The target resumes the deliveries in an incomplete map of the receiver."""
    link, deliveries = unsettled(peer, peer.node(), b"1", b"2", b"3")
    suspend(peer, link)
    peer.claim("the delivery in the incomplete map, resumed")
    again = resume(peer, link, nothing_received(deliveries[:1]), incomplete_unsettled=True)
    known(peer, again, deliveries[0].tag)
    peer.credit(again, _SEVERAL)
    delivery = resumed_delivery(peer, again, deliveries[0].tag)
    return holds(peer, delivery.resume, f"resume {delivery.resume}")


@case("transfers.resuming.incomplete.no-new", covers=["transfers/resuming/incomplete/no-new"], needs=_NEEDS)
def nothing_new_beside_an_incomplete_map(peer: Peer) -> Verdict:
    """The target sends no new delivery on the link while a map is incomplete."""
    address = peer.node()
    link, deliveries = unsettled(peer, address, b"1", b"2")
    suspend(peer, link)
    put(peer, address, b"new")
    again = resume(peer, link, nothing_received(deliveries[:1]), incomplete_unsettled=True)
    peer.claim("no transfer without resume")
    peer.credit(again, _SEVERAL)
    with suppress(Unmet):
        peer.until(lambda: bool(again.inbox), "a delivery", link=again)
    # Another receiver gets the new message: it is not in progress on the link.
    passed_by(peer, again, b"new")
    new = sum(not delivery.resume for delivery in peer.received(again))
    return equals(peer, new, 0, "new deliveries")


@case("transfers.resuming.incomplete.retry", covers=["transfers/resuming/incomplete/retry"], needs=_NEEDS)
def complete_after_an_incomplete_map(peer: Peer) -> Verdict:
    """Once incomplete maps are reduced, the link can be suspended and resumed with complete ones, and works."""
    address = peer.node()
    link, deliveries = unsettled(peer, address, b"1", b"2")
    suspend(peer, link)
    first = resume(peer, link, nothing_received(deliveries[:1]), incomplete_unsettled=True)
    known(peer, first, deliveries[0].tag)
    peer.credit(first, 1)
    peer.disposition(resumed_delivery(peer, first, deliveries[0].tag))
    peer.claim("a complete map of the target, the rest resumed, then new messages")
    suspend(peer, first)
    second = resume(peer, link, nothing_received(deliveries[1:]))
    if is_incomplete(second):
        return holds(peer, False, "an incomplete map again")
    put(peer, address, b"new")
    peer.credit(second, 2)
    come = [(body_of(one), one.resume) for one in peer.deliveries(second, 2)]
    return equals(peer, come, [(b"2", True), (b"new", False)], "deliveries, and whether they are resumed")


# --- 2.6.13: how deliveries are resumed


@case("transfers.resuming.omit-data", covers=["transfers/resuming/omit-data"], needs=_NEEDS)
def data_that_was_received(peer: Peer) -> Verdict:
    """The target may omit the data when it resumes a delivery that arrived complete."""
    link, (before,) = unsettled(peer, peer.node(), b"message")
    sections = len(before.message.sections)
    suspend(peer, link)
    whole = encode_composite("received", section_number=sections, section_offset=0)
    again = resume(peer, link, {before.tag: whole})
    known(peer, again, before.tag)
    peer.claim("the delivery resumed, with its data or without")
    peer.credit(again, 1)
    delivery = resumed_delivery(peer, again, before.tag)
    if not delivery.resume:
        return holds(peer, False, "a delivery without resume")
    return observed_either_way(peer, "resumed with data" if delivery.payload else "resumed without data")


@case("transfers.resuming.delivery-ids", covers=["transfers/resuming/delivery-ids"], needs=_NEEDS)
def ids_of_old_links(peer: Peer) -> Verdict:
    """On another session, an unsettled tag has no delivery-id until it is resumed with a new one."""
    link, (before,) = unsettled(peer, peer.node(), b"message")
    peer.begin(peer.free_channel())
    other = max(peer.books.sessions)
    suspend(peer, link)
    again = resume(peer, link, nothing_received([before]), channel=other)
    known(peer, again, before.tag)
    peer.claim("no effect of the old delivery-id; then the delivery, resumed")
    peer.disposition(before, channel=other)
    peer.barrier(other)
    peer.credit(again, 1)
    delivery = resumed_delivery(peer, again, before.tag)
    observed = f"body {body_of(delivery)!r}, resume {delivery.resume}"
    return holds(peer, delivery.resume and body_of(delivery) == b"message", observed)


# --- 2.7.5: resume


@case("transfers.resume.unknown", covers=["performatives/transfer/resume/unknown"])
def resumed_on_a_fresh_link(peer: Peer) -> Verdict:
    """The target ignores a resumed delivery on a link that it has never seen."""
    link = sender(peer, peer.node())
    peer.claim("the message of the resumed delivery not in the node, and no error")
    piece(peer, link, octets_of(b"unknown"), delivery_tag=_UNKNOWN, resume=True)
    peer.outcome(peer.transfer(link, b"known"))
    return equals(peer, contents(peer, link.address), [b"known"], "messages")


@case("transfers.resume.later-true", covers=["performatives/transfer/resume/later-true"], needs=_NEEDS)
def resume_on_every_transfer(peer: Peer) -> Verdict:
    """All transfers of a resumed delivery can have the resume flag."""
    return _resumed_in_three(peer, later=True)


@case("transfers.resume.later-omitted", covers=["performatives/transfer/resume/later-omitted"], needs=_NEEDS)
def resume_on_the_first_transfer(peer: Peer) -> Verdict:
    """Transfers of a resumed delivery after the first can omit the resume flag."""
    return _resumed_in_three(peer, later=OMIT)


@case("transfers.resume.no-payload", covers=["performatives/transfer/resume/no-payload"], needs=_NEEDS)
def resumed_without_data(peer: Peer) -> Verdict:
    """A resumed delivery can contain only the sender's final state: the message exists once and is settled."""
    link = in_mode_second(peer, "sender", peer.node())
    sent = peer.outcome(peer.transfer(link, b"message"))
    if sent.settled_by_target:
        raise Unmet("an unsettled disposition", "a settled one")
    suspend(peer, link)
    again = resume(peer, link, {sent.tag: encode_composite("accepted")}, rcv_settle_mode="second")
    known(peer, again, sent.tag)
    peer.claim("the message once, and its tag free again")
    piece(peer, again, delivery_tag=sent.tag, resume=True, settled=True, state="accepted")
    peer.outcome(peer.transfer(again, b"next", delivery_tag=sent.tag))
    return equals(peer, contents(peer, link.address), [b"message", b"next"], "messages")


@case(
    "transfers.resume.mode-not-retained",
    covers=["performatives/transfer/rcv-settle-mode/not-retained"],
    needs=_NEEDS,
)
def mode_of_a_resumed_delivery(peer: Peer) -> Verdict:
    """A delivery that was begun in mode first is resumed in the mode of its link if it names none."""
    in_mode_second(peer, "sender", peer.node())
    link, tag, octets = begun_and_suspended(peer, b"message" * 30, 2, rcv_settle_mode="second")
    again = resume(peer, link, {tag: NOTHING_RECEIVED}, rcv_settle_mode="second")
    known(peer, again, tag)
    peer.claim("a disposition that does not settle")
    sent = piece(peer, again, b"".join(octets), delivery_tag=tag, resume=True, state=NOTHING_RECEIVED)
    peer.outcome(sent)
    peer.barrier()
    return holds(peer, not sent.settled_by_target, f"settled {sent.settled_by_target}, {sent.outcome}")


# --- steps of this module


def _resumed_in_three(peer: Peer, later: object) -> Verdict:
    link, tag, octets = begun_and_suspended(peer, LARGE, 3)
    again = resume(peer, link, {tag: NOTHING_RECEIVED})
    known(peer, again, tag)
    peer.claim("the whole message, once")
    first = {"delivery_tag": tag, "state": NOTHING_RECEIVED}
    piece(peer, again, octets[0], resume=True, more=True, **first)
    piece(peer, again, octets[1], resume=later, more=True)
    # Before the outcome, a marker on another link proves nothing.
    peer.outcome(piece(peer, again, octets[2], resume=later))
    return equals(peer, contents(peer, again.address), [LARGE], "messages")


def _reported(held: bool) -> str:
    return "still in the target's map" if held else "no longer in the target's map"
