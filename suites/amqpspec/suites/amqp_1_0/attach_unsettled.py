"""Unsettled maps in attach (amqp-1.0 §2.7.3): compared on both sides, complete or incomplete."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne, judge_arrival, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import (
    DURABLE,
    MARK,
    RECEIVER,
    SECOND,
    SENDER,
    asked,
    fill,
    filled,
    look,
    passed_by,
    reborn,
    resuming,
    second_mode,
    settled_arrivals,
    states,
    unsettled,
    unsettled_of,
)
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Map

# 60 tags of 32 octets: 1920 octets of keys alone, against a frame of 512.
_MANY, _TAG_OCTETS = 60, 32
_SMALL_FRAME_OCTETS = 512
_CREDIT = 10

# --- compared


@case("attach.unsettled.compared", covers=["performatives/attach/unsettled/compared"], needs=["resume"])
def maps_are_compared(peer: Peer) -> Verdict:
    """The source resumes deliveries that both maps contain without an outcome, and applies reported outcomes."""
    peer, address, name, held = _suspended(peer, 3)
    # One state for each way to continue: received leaves it open, accepted and released are outcomes that
    # the source has not received.
    map = {**states(held[0].tag, state="received"), **states(held[1].tag)}
    map |= states(held[2].tag, state="released")
    peer.claim("the first delivery resumed, the second one consumed, the third one sent again")
    link = _resumed(peer, address, name, map)
    _up_to_mark(peer, link, address, held[0].tag)
    received = {delivery.tag: delivery for delivery in link.inbox}
    anew = [delivery.body for delivery in link.inbox if not delivery.resume]
    first = received.get(held[0].tag)
    settled_arrivals(peer, link)
    peer.detach(link)
    # The released message may arrive on the link or stay in the node: both are checked.
    left = anew + look(peer, address)
    if first is None or not first.resume or held[1].body in left:
        return holds(peer, False, _story(received))
    return holds(peer, held[2].body in left, f"{_story(received)}; available again: {left}")


@case("attach.unsettled.resent", covers=["performatives/attach/unsettled/resent"], needs=["resume"])
def resent_or_resumed(peer: Peer) -> Verdict:
    """The source chooses whether to resend, resume or skip deliveries that the receiver has no record of."""
    peer, address, name, held = _suspended(peer, 2)
    link = _resumed(peer, address, name, states(held[0].tag, state="received"))
    _up_to_mark(peer, link, address)
    reported = [_way(delivery, held) for delivery in link.inbox if delivery.body != MARK]
    settled_arrivals(peer, link)
    peer.detach(link)
    return observed_either_way(peer, "; ".join(sorted(reported)) or "nothing is sent")


# --- too large for a frame


@case("attach.unsettled.too-large", covers=["performatives/attach/unsettled/too-large"], needs=["resume"])
def map_too_large(peer: Peer) -> Verdict:
    """A map that does not fit into a frame is sent in part, or the session ends with frame-size-too-small."""
    peer, address, name, _ = _many_unsettled(peer)
    _send_resuming(peer, address, name)
    arrival = peer.arrival("attach")
    if not isinstance(arrival, FrameArrived) or arrival.name != "attach":
        return judge_arrival(peer, arrival)
    _tells_something(arrival)
    octets, incomplete = peer.largest_frame_octets, arrival["incomplete_unsettled"]
    way = f"its map sent as {'incomplete' if incomplete else 'complete'}"
    observed = f"attach of {octets} octets, {way}"
    # A MAY either way: cut and marked so, or the session ends. An oversized frame, or a part marked
    # as the whole, is neither.
    if octets <= _SMALL_FRAME_OCTETS and incomplete:
        return observed_either_way(peer, way, observed=observed)
    return holds(peer, False, observed)


@case(
    "attach.unsettled.prefer-incomplete",
    covers=["performatives/attach/unsettled/prefer-incomplete"],
    needs=["resume"],
)
def incomplete_map_is_preferred(peer: Peer) -> Verdict:
    """A map that does not fit into a frame is truncated and marked as incomplete."""
    peer, address, name, tags = _many_unsettled(peer)
    peer.claim(f"attach of at most {_SMALL_FRAME_OCTETS} octets with an incomplete map")
    _send_resuming(peer, address, name)
    attach = peer.expect("attach")
    reported = _tells_something(attach)
    fits = peer.largest_frame_octets <= _SMALL_FRAME_OCTETS
    kept = fits and attach["incomplete_unsettled"] is True and reported < set(tags)
    state = "incomplete" if attach["incomplete_unsettled"] else "complete"
    return holds(peer, kept, f"frames of {peer.largest_frame_octets} octets, {len(reported)} tags, {state}")


# --- keys, and no map at all


@case("attach.unsettled.null-key", covers=["performatives/attach/unsettled/null-keys"])
def null_key_in_a_map(peer: Peer) -> Verdict:
    """The target rejects or tolerates an unsettled map with a null key."""
    # A target that refuses every map on a new link reveals nothing about the key.
    legal = asked(peer.another(), SENDER, unsettled=states(b"tag"))[1]
    if legal.refusal is not None:
        raise OutOfReach(f"a map without null keys is refused, too: {legal.describe(peer.dialect)}", legal)
    map = Map({None: encode_composite("accepted")})
    return borne(peer, asked(peer, SENDER, unsettled=map)[1])


@case(
    "attach.unsettled.own-keys",
    covers=["performatives/attach/unsettled/null-keys"],
    needs=["resume"],
)
def keys_of_the_target(peer: Peer) -> Verdict:
    """The keys of the target's unsettled map are delivery-tags, and none is null."""
    peer, address, name, held = _suspended(peer, 2)
    link = _resumed(peer, address, name, states(*(delivery.tag for delivery in held), state="received"))
    reported = unsettled_of(link)
    settled_arrivals(peer, link)
    peer.detach(link)
    return holds(peer, all(isinstance(tag, bytes) for tag in reported), f"keys {list(reported)}")


@case("attach.unsettled.reattaching", covers=["performatives/attach/unsettled/reattaching"])
def no_map_when_reattaching(peer: Peer) -> Verdict:
    """A link that is reattached with no unsettled deliveries has no map; an empty one is tolerated."""
    name, address = peer.name("link"), filled(peer, 1)
    link = peer.receiver(address, name=name)
    for delivery in unsettled(peer, link, 1):
        peer.disposition(delivery)
    peer.barrier()
    peer.detach(link, closed=False)
    peer.claim("attach whose unsettled map is null")
    again = peer.receiver(address, name=name)
    reported = owed(again.attached, "attach")["unsettled"]
    verdict = holds(
        peer, reported is None, "no map" if reported is None else f"a map of {len(reported)} deliveries"
    )
    if reported == {}:
        # A target that gives up its endpoint with detach resumes, and has to send its state then (§2.6.3).
        return replace(verdict, outcome=Outcome.NONSTRICT)
    return verdict


# --- incomplete


@case(
    "attach.incomplete-unsettled.sender",
    covers=["performatives/attach/incomplete-unsettled/sender"],
    needs=["resume"],
)
def nothing_new_beside_an_incomplete_map(peer: Peer) -> Verdict:
    """A source that receives an incomplete map resumes the deliveries in it and starts no new ones."""
    peer, address, name, held = _suspended(peer, 3)
    fill(peer, address, b"new")
    map = states(held[0].tag, state="received")
    peer.claim("the delivery in the map resumed, and no new one")
    link = _resumed(peer, address, name, map, incomplete_unsettled=True)
    peer.until(lambda: any(d.tag == held[0].tag for d in link.inbox), "the delivery resumed", link=link)
    # Another receiver gets the new message: it is not in progress on the link.
    passed_by(peer, link, b"new")
    received = list(link.inbox)
    settled_arrivals(peer, link)
    peer.detach(link)
    return holds(
        peer, all(d.resume for d in received), "; ".join(_way(delivery, held) for delivery in received)
    )


@case(
    "attach.incomplete-unsettled.receiver",
    covers=["performatives/attach/incomplete-unsettled/receiver"],
    needs=["resume"],
)
def new_delivery_beside_an_incomplete_map(peer: Peer) -> Verdict:
    """A target that sent an incomplete map rejects a new delivery."""
    peer, address, name, _ = _many_unsettled(peer)
    _send_resuming(peer, address, name)
    attach = peer.expect("attach")
    if not attach["incomplete_unsettled"]:
        raise OutOfReach("the target's map is complete")
    link = peer.session().every_link[-1]
    peer.credit_for(link)
    peer.transfer(link, b"new", delivery_tag=b"new")
    return rejects_violation(peer, link=link)


@case(
    "attach.incomplete-unsettled.reattach",
    covers=["performatives/attach/incomplete-unsettled/reattach"],
    needs=["resume"],
)
def new_deliveries_after_a_complete_map(peer: Peer) -> Verdict:
    """The target starts new deliveries only after the link is attached with a complete map."""
    peer, address, name, held = _suspended(peer, 2)
    fill(peer, address, b"new")
    peer.claim("a new delivery after the complete map, not before")
    link = _resumed(peer, address, name, states(held[0].tag, state="received"), incomplete_unsettled=True)
    peer.until(lambda: len(link.inbox) > 0, "the delivery resumed", link=link)
    passed_by(peer, link, b"new")
    early = [delivery.body for delivery in link.inbox if not delivery.resume]
    settled_arrivals(peer, link)
    peer.detach(link, closed=False)
    if early:
        return holds(peer, False, f"{early} despite the incomplete map")
    fill(peer, address, b"new")
    again = _resumed(peer, address, name, states(held[1].tag, state="received"))
    peer.until(lambda: b"new" in {d.body for d in again.inbox}, "the new delivery", link=again)
    settled_arrivals(peer, again)
    peer.detach(again)
    return holds(peer, True, "nothing new before, the new delivery after")


# --- steps of this module


def _suspended(peer: Peer, count: int) -> tuple[Peer, str, str, list[Delivery]]:
    """A link with this many unsettled deliveries whose connection is gone: the next one, the names, the deliveries."""
    name, address = peer.name("link"), filled(peer, count)
    link = peer.receiver(name=name, source={"address": address, **DURABLE})
    held = unsettled(peer, link, count)
    return reborn(peer), address, name, held


def _resumed(peer: Peer, address: str, name: str, map: Any, **fields: Any) -> Link:
    """The link resumed with that map and with credit; raises OutOfReach if the source holds nothing unsettled."""
    source = {"address": address, **DURABLE}
    link = resuming(peer, RECEIVER, name=name, source=source, unsettled=Map(map), **fields)
    if not unsettled_of(link):
        raise OutOfReach("the source has no unsettled delivery")
    peer.credit(link, _CREDIT)
    return link


def _tells_something(attach: FrameArrived) -> set[Any]:
    """The tags in the target's map; raises OutOfReach if it says that there is nothing unsettled."""
    if not attach["unsettled"] and not attach["incomplete_unsettled"]:
        raise OutOfReach("the target has no unsettled delivery")
    return set(attach["unsettled"] or {})


def _up_to_mark(peer: Peer, link: Link, address: str, *tags: bytes) -> None:
    """Wait for a message that was put into the node after all others, and for what is due by tag."""
    fill(peer, address, MARK)
    peer.until(lambda: MARK in {d.body for d in link.inbox}, "a message sent after all others", link=link)
    # What is resumed was never in the node again, and need not come before what is.
    with suppress(Unmet):
        peer.until(lambda: {*tags} <= {d.tag for d in link.inbox}, "what is resumed", link=link)


def _way(delivery: Delivery, held: list[Delivery]) -> str:
    """A description: as which of the held deliveries something arrived, and how."""
    payloads = [one.payload for one in held]
    which = payloads.index(delivery.payload) + 1 if delivery.payload in payloads else 0
    tags = [one.tag for one in held]
    tag = "its tag" if delivery.tag in tags else "a new tag"
    name = (
        f"delivery {which or tags.index(delivery.tag) + 1}" if which or delivery.tag in tags else "a new one"
    )
    return f"{name} {'resumed' if delivery.resume else 'sent'} under {tag}"


def _story(received: dict[bytes, Delivery]) -> str:
    reported = [
        f"{tag.hex()}{' resumed' if d.resume else ''}: {d.payload[-12:]!r}" for tag, d in received.items()
    ]
    return "; ".join(reported) or "nothing arrived"


def _many_unsettled(peer: Peer) -> tuple[Peer, str, str, list[bytes]]:
    """A target that holds more unsettled than fits a small frame, whose connection is gone; the next one is small."""
    name, address = peer.name("link"), peer.node()
    target = {"address": address, **DURABLE}
    # Mode second, as the target keeps unsettled only what the sender has not settled.
    link = second_mode(peer, address, name=name, target=target)
    tags = [number.to_bytes(_TAG_OCTETS, "big") for number in range(_MANY)]
    for tag in tags:
        sent = peer.transfer(link, message=encode_message(data=b"x"), delivery_tag=tag)
        if peer.outcome(sent).settled_by_target:
            raise OutOfReach("the target settles what it receives by itself")
    return reborn(peer, max_frame_size=_SMALL_FRAME_OCTETS), address, name, tags


def _send_resuming(peer: Peer, address: str, name: str) -> None:
    """Attach as a sender that cannot tell all that it holds, either."""
    peer.largest_frame_octets = 0
    # The peer's own map does not fit either, and is marked as incomplete: an empty one that counts as complete would
    # settle everything.
    fields = {"unsettled": Map({}), "incomplete_unsettled": True, "rcv_settle_mode": SECOND}
    target = {"address": address, **DURABLE}
    peer.send("attach", **peer.attach_fields(SENDER, name=name, target=target, **fields))
