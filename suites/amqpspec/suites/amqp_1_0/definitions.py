"""Definitions (amqp-1.0 §2.8): settle modes, handles, tags, serial numbers, fields, errors, constants."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, Outgoing, serial
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne, well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import (
    RECEIVER,
    SENDER,
    bodies,
    fill,
    filled,
    look,
    message_of,
    second_mode,
)
from amqpspec.suites.amqp_1_0._sessions import failed_session, state_of
from amqpspec.suites.amqp_1_0._transfers import credit_at_once, told_by_now
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Value

_UNSETTLED, _SETTLED, _MIXED = 0, 1, 2
_HANDLES = (7, 3)
_LEAST_FRAME_OCTETS = 512
_LARGE_OCTETS = 9000
_JUST_BEFORE_ZERO = (1 << 32) - 2
_TAG_OCTETS = 32

# --- settle modes


@case("definitions.snd-settle-mode.unsettled", covers=["definitions/snd-settle-mode/unsettled"])
def sender_in_mode_unsettled(peer: Peer) -> Verdict:
    """A sender in mode unsettled sends all deliveries unsettled."""
    return _sent_in_mode(peer, _UNSETTLED, settled=False)


@case("definitions.snd-settle-mode.settled", covers=["definitions/snd-settle-mode/settled"])
def sender_in_mode_settled(peer: Peer) -> Verdict:
    """A sender in mode settled sends all deliveries settled."""
    return _sent_in_mode(peer, _SETTLED, settled=True)


@case("definitions.snd-settle-mode.mixed", covers=["definitions/snd-settle-mode/mixed"])
def sender_in_mode_mixed(peer: Peer) -> Verdict:
    """The target accepts alternating settled and unsettled messages from a sender in mode mixed."""
    link = peer.sender(peer.node(), snd_settle_mode=_MIXED)
    credit_at_once(peer, link, 3)
    peer.claim("three messages in the node, an outcome of the unsettled one")
    # In one write: whether the target reads them together is not left to chance.
    frames, sent = zip(
        *(_transfer(peer, link, body, body != b"message 1") for body in bodies(3)), strict=True
    )
    peer.send_octets(b"".join(frames))
    peer.outcome(sent[1])
    found = look(peer, link.address, bodies(3))
    decided = [outgoing.is_decided for outgoing in sent]
    verdict = equals(peer, (sorted(found), decided[1]), (bodies(3), True), "messages, outcome reported")
    # What was sent settled needs no disposition; none is forbidden (amqp-1.0 §2.6.12).
    needless = verdict.outcome is Outcome.PASS and (decided[0] or decided[2])
    return observed_either_way(peer, "a needless disposition") if needless else verdict


def _transfer(peer: Peer, link: Link, body: bytes, settled: bool) -> tuple[bytes, Outgoing]:
    """A transfer to be sent, and its delivery."""
    payload = encode_message(data=body)
    frame = peer.frame("transfer", link.session.channel, payload=payload, handle=link, settled=settled)
    return frame, owed(link.last_outgoing, "a delivery")


@case("definitions.snd-settle-mode.mixed.one-octet", covers=["definitions/snd-settle-mode/mixed"])
def settled_told_in_one_octet(peer: Peer) -> Verdict:
    """Settled may be a boolean with an octet of its own on a link without a mode, which is mixed."""
    link = peer.sender(peer.node())
    credit_at_once(peer, link, 2)
    peer.claim("both messages in the node, an outcome of the unsettled one")
    # 56 01 and 56 00 in place of 41 and 42: both encodings are of the type boolean (amqp-1.0, Part 1).
    peer.outcome(peer.transfer(link, b"message 0", settled=Value("boolean1", False)))
    settled = peer.transfer(link, b"message 1", settled=Value("boolean1", True))
    told_by_now(peer)
    found = look(peer, link.address, bodies(2))
    verdict = equals(peer, sorted(found), bodies(2), "messages")
    needless = verdict.outcome is Outcome.PASS and settled.is_decided
    return observed_either_way(peer, "a needless disposition") if needless else verdict


@case("definitions.rcv-settle-mode.first", covers=["definitions/rcv-settle-mode/first"])
def receiver_in_mode_first(peer: Peer) -> Verdict:
    """A receiver in mode first settles every delivery."""
    link = peer.sender(rcv_settle_mode=0)
    if owed(link.attached, "attach")["rcv_settle_mode"] != 0:
        raise OutOfReach("the target answers rcv-settle-mode first with second", link.attached)
    credit_at_once(peer, link, 3)
    peer.claim("three settled dispositions")
    sent = [peer.transfer(link, body) for body in bodies(3)]
    peer.until(lambda: all(o.settled_by_target for o in sent), "three settled dispositions", link=link)
    return equals(peer, [o.result for o in sent], ["accepted"] * 3, "outcomes")


@case("definitions.rcv-settle-mode.second", covers=["definitions/rcv-settle-mode/second"])
def receiver_in_mode_second(peer: Peer) -> Verdict:
    """A receiver in mode second reports an outcome, and settles after the sender has settled."""
    link = second_mode(peer, peer.node())
    credit_at_once(peer, link, 2)
    peer.claim("an unsettled outcome; once that is settled, the tag is free")
    sent = peer.outcome(peer.transfer(link, b"message"))
    peer.barrier()
    if sent.settled_by_target:
        return holds(peer, False, "a settled disposition before the sender's")
    peer.disposition(sent, role="sender", state=None)
    again = peer.transfer(link, b"message", delivery_tag=sent.tag)
    return equals(peer, peer.outcome(again).result, "accepted", "outcome of another delivery with the tag")


# --- handles


@case("definitions.handle.different", covers=["definitions/handle/different"])
def handles_that_differ(peer: Peer) -> Verdict:
    """Links work with different handles on both ends."""
    address, full = peer.node(), filled(peer, 1)
    session = peer.begin()
    if session.remote_handle_max < max(_HANDLES):
        raise OutOfReach(f"handle-max is {session.remote_handle_max}, the case needs {max(_HANDLES)}")
    peer.claim("a message each way, with the chosen handles")
    receiver = peer.receiver(full, handle=_HANDLES[1], credit=1)
    sender = peer.sender(address, handle=_HANDLES[0])
    outcome = peer.outcome(peer.transfer(sender, b"x")).result
    return equals(peer, (outcome, peer.delivery(receiver).body), ("accepted", b"message 0"), "outcome, body")


@case("definitions.handle.reuse", covers=["definitions/handle/reuse"])
def handle_once_more(peer: Peer) -> Verdict:
    """The handle of a link that both sides closed can be reused for a link in the other direction."""
    address = filled(peer, 1)
    first = peer.sender(address)
    peer.detach(first)
    peer.claim("an attached link that brings the message")
    link = peer.receiver(address, handle=first.handle, credit=1)
    return equals(peer, peer.delivery(link).body, b"message 0", "body")


# --- delivery-tags


@case("definitions.delivery-tag.length", covers=["definitions/delivery-tag/length"])
def tags_up_to_the_limit(peer: Peer) -> Verdict:
    """The target accepts tags of one octet and of 32 octets."""
    link = peer.sender()
    peer.claim("an outcome of each delivery")
    # The least and the most of §2.8.7, every octet of the longer one different.
    tags = (b"t", bytes(range(_TAG_OCTETS)))
    outcomes = [peer.outcome(peer.transfer(link, b"x", delivery_tag=tag)).result for tag in tags]
    return equals(peer, outcomes, ["accepted"] * 2, "outcomes")


@case("definitions.delivery-tag.length.exceeded", covers=["definitions/delivery-tag/length"])
def tag_above_the_limit(peer: Peer) -> Verdict:
    """The target rejects or tolerates a tag of 33 octets."""
    link = peer.sender()
    sent = peer.transfer(link, b"x", delivery_tag=bytes(_TAG_OCTETS + 1))
    return borne(peer, peer.reaction(link=link, delivery=sent))


@case("definitions.delivery-tag.length.own", covers=["definitions/delivery-tag/length"])
def tags_of_the_target(peer: Peer) -> Verdict:
    """The target's tags have at most 32 octets."""
    link = peer.receiver(filled(peer, 3), credit=3)
    longest = max(len(delivery.tag) for delivery in peer.deliveries(link, 3))
    return holds(peer, longest <= _TAG_OCTETS, f"tags of up to {longest} octets", "at most 32 octets")


# --- serial numbers


@case("definitions.sequence-no.arithmetic", covers=["definitions/sequence-no/arithmetic"])
def numbers_that_wrap(peer: Peer) -> Verdict:
    """Transfer-ids, delivery-ids and delivery-count wrap around to zero after their highest value."""
    # Two before the end of 32 bits, for each of the three counters (RFC 1982).
    peer.begin(next_outgoing_id=_JUST_BEFORE_ZERO)
    link = peer.sender(initial_delivery_count=_JUST_BEFORE_ZERO)
    credit_at_once(peer, link, 5)
    peer.claim("five messages accepted, next-incoming-id 3, delivery-count 3")
    sent = [_numbered(peer, link, _JUST_BEFORE_ZERO + n) for n in range(5)]
    outcomes = [peer.outcome(outgoing).result for outgoing in sent]
    reported = state_of(peer)["next_incoming_id"]
    if (outcomes, reported) != (["accepted"] * 5, 3):
        return equals(peer, (outcomes, reported), (["accepted"] * 5, 3), "outcomes, next-incoming-id")
    with suppress(Unmet):
        return equals(peer, peer.echo(link=link)["delivery_count"], 3, "delivery-count")
    return holds(peer, True, "five messages accepted, next-incoming-id 3, no flow of the link")


@case("definitions.sequence-no.arithmetic.ranges", covers=["definitions/sequence-no/arithmetic"])
def range_that_wraps(peer: Peer) -> Verdict:
    """A disposition can cover delivery-ids from below the highest value to above zero."""
    link = second_mode(peer, peer.node())
    credit_at_once(peer, link, 8)
    sent = [peer.outcome(_numbered(peer, link, _JUST_BEFORE_ZERO + n)) for n in range(4)]
    if any(outgoing.settled_by_target for outgoing in sent):
        raise OutOfReach("the target settles before the sender in mode second")
    peer.claim("all four settled: each tag is free for another delivery")
    # first is greater than last as a plain number, and three after it as a serial one.
    peer.disposition(sent[0], sent[-1], role="sender", state=None)
    again = [peer.transfer(link, b"again", delivery_tag=outgoing.tag) for outgoing in sent]
    return equals(peer, [peer.outcome(o).result for o in again], ["accepted"] * 4, "outcomes")


# --- fields and errors


@case("definitions.fields.symbol-keys", covers=["definitions/fields/symbol-keys"])
def fields_with_other_keys(peer: Peer) -> Verdict:
    """The target rejects or tolerates open properties with string or null keys."""
    return worst(_opened_with_key(peer.another(), key) for key in (Value("string", "product"), None))


@case("definitions.fields.symbol-keys.own", covers=["definitions/fields/symbol-keys"])
def fields_of_the_target(peer: Peer) -> Verdict:
    """The maps in the target's open, begin and attach have symbols as keys."""
    frames = [peer.begin().begun, peer.opened]
    frames += [peer.attach(role, peer.node()).attached for role in (SENDER, RECEIVER)]
    return well_formed(peer, *(frame for frame in frames if frame is not None))


@case("definitions.error.condition", covers=["definitions/error/condition"])
def errors_of_the_target(peer: Peer) -> Verdict:
    """The target's end and close for an error contain an error with a symbol as condition."""
    ended = peer.another()
    with suppress(OutOfReach):
        failed_session(ended)
    peer.open_connection()
    # A size of 4: the surest way to make a target close.
    peer.send_frame(b"\x00", size=4)
    seen = peer.arrival("close")
    # What cannot continue in the session may cost the connection: that close is one for an error, too.
    said = (ended.session().ended_by, ended.closed_by, peer.closed_by)
    found = [frame for frame in said if frame is not None]
    if not found:
        raise OutOfReach("the target ends sessions and connections without an error", seen)
    bare = [frame.name for frame in found if frame.error is None]
    if bare:
        return holds(peer, False, f"{bare[0]} without error", "an error with a condition")
    return well_formed(peer, *found)


@case("definitions.error.condition.of-partner", covers=["definitions/error/condition"])
def errors_of_the_partner(peer: Peer) -> Verdict:
    """The target answers detach, end and close whose error contains only a condition."""
    link = peer.sender()
    error = {"condition": "amqp:internal-error"}
    peer.claim("detach, end and close in answer")
    answers: list[FrameArrived] = [peer.detach(link, error=error), peer.end(error=error)]
    answers.append(peer.close(error=error))
    return equals(peer, [answer.name for answer in answers], ["detach", "end", "close"], "answers")


# --- constants


@case("definitions.min-max-frame-size.agreed", covers=["definitions/min-max-frame-size/agreed"])
def frame_sizes_that_were_agreed(peer: Peer) -> Verdict:
    """Frames of both peers up to the agreed size pass, and the target sends none that is larger."""
    peer.claim(
        "large messages in frames up to the announced size, both ways, and a frame of 512 octets accepted"
    )
    address = _filled_with_large(peer)
    # The least, one above it, and no limit.
    return worst(_agreed(peer.another(), address, reported) for reported in (_LEAST_FRAME_OCTETS, 4096, None))


@case("definitions.min-max-frame-size.lower-bound", covers=["definitions/min-max-frame-size/lower-bound"])
def max_frame_size_below_the_least(peer: Peer) -> Verdict:
    """The target rejects or tolerates an open with a max-frame-size below 512."""
    # The rule binds the sender of open: a target may refuse the value or bear with it (amqp-1.0 §2.8.19).
    return worst(_opened_with_limit(peer.another(), octets) for octets in (256, 0))


@case(
    "definitions.min-max-frame-size.lower-bound.own",
    covers=["definitions/min-max-frame-size/lower-bound", "definitions/min-max-frame-size/agreed"],
)
def max_frame_size_of_the_target(peer: Peer) -> Verdict:
    """The target's max-frame-size is at least 512."""
    reported = peer.open_connection().max_frame_octets
    return holds(peer, reported >= _LEAST_FRAME_OCTETS, f"max-frame-size {reported}", "512 or more, or none")


# --- steps of this module


def _sent_in_mode(peer: Peer, mode: int, *, settled: bool) -> Verdict:
    link = peer.receiver(filled(peer, 3), snd_settle_mode=mode)
    if owed(link.attached, "attach")["snd_settle_mode"] != mode:
        raise OutOfReach(f"the target answers snd-settle-mode {mode} with another one", link.attached)
    peer.credit(link, 3)
    deliveries = peer.deliveries(link, 3)
    reported = [delivery.settled for delivery in deliveries]
    return equals(peer, reported, [settled] * 3, "settled")


def _numbered(peer: Peer, link: Link, number: int) -> Outgoing:
    return peer.transfer(link, b"x", delivery_id=serial(number))


def _opened_with_key(peer: Peer, key: Any) -> Verdict:
    return _opened(peer, properties=Value("map", {key: "amqpspec"}))


def _opened_with_limit(peer: Peer, octets: int) -> Verdict:
    return _opened(peer, max_frame_size=octets)


def _opened(peer: Peer, **fields: Any) -> Verdict:
    """An open that the target may refuse; if it answers, a session shows that it continues."""
    peer.greet()
    peer.send("open", **fields)
    with suppress(Unmet):
        peer.expect("open")
    return borne(peer, peer.reaction())


def _filled_with_large(peer: Peer) -> str:
    """The address of a node with one message for each of the sizes that are tried."""
    return fill(peer, peer.node(), *(bytes(_LARGE_OCTETS) for _ in range(3)))


def _agreed(peer: Peer, address: str, reported: int | None) -> Verdict:
    peer.open_connection(max_frame_size=reported)
    if peer.max_frame_octets < _LEAST_FRAME_OCTETS:
        return holds(peer, False, f"max-frame-size {peer.max_frame_octets}")
    link = peer.receiver(address, credit=1)
    delivery = peer.delivery(link)
    peer.disposition(delivery)
    largest = peer.largest_frame_octets
    if reported is not None and largest > reported:
        return holds(peer, False, f"a frame of {largest} octets where {reported} were announced")
    return _frame_of(peer, _LEAST_FRAME_OCTETS)


def _frame_of(peer: Peer, octets: int) -> Verdict:
    """A transfer in a frame of this many octets is taken."""
    link = peer.sender()
    peer.credit_for(link)
    head = len(peer.exact("transfer", handle=link.handle, delivery_id=0, delivery_tag=bytes(4),
                          message_format=0, settled=False))  # fmt: skip
    outcome = peer.outcome(peer.transfer(link, message=message_of(octets - head), delivery_tag=bytes(4)))
    return equals(peer, outcome.result, "accepted", "outcome of a message in a frame of 512 octets:")
