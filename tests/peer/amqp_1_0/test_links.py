"""Links, credit, deliveries, dispositions, windows, round trips."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.peer.amqp_1_0.booking import _between
from amqpspec.peer.amqp_1_0.books import ahead, serial
from amqpspec.peer.context import Login, OutOfReach, Unmet
from amqpspec.wire.amqp_1_0.frames import TypedFrame
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from tests.peer.amqp_1_0.fake import (
    ATTACHED_RECEIVER,
    ATTACHED_SENDER,
    attached,
    begun,
    credit,
    error,
    heard,
    last,
    names,
    opened,
    peer,
    says,
)

BODY = encode_message(data=b"body")


def got(id: int, payload: bytes = BODY, handle: int = 0, **fields: Any) -> bytes:
    usual: dict[str, Any] = {"delivery_id": id, "delivery_tag": bytes((id,)), "message_format": 0}
    return says("transfer", payload=payload, handle=handle, **{**usual, **fields})


def told(first: int, last: int | None = None, state: str = "accepted", **fields: Any) -> bytes:
    usual: dict[str, Any] = {"role": "receiver", "settled": True}
    return says("disposition", first=first, last=last, state=state, **{**usual, **fields})


@pytest.mark.parametrize("start", [0, 7, (1 << 31) - 3, (1 << 32) - 3])
def test_a_disposition_covers_a_range_that_may_wrap(start: int) -> None:
    places = (0, 1, 2, 4, 5)
    known = {serial(start + place): place for place in places}
    for begin in range(-2, 8):
        for end in range(begin - 1, 9):
            covered = [place for place in places if begin <= place <= end]
            assert _between(known, serial(start + begin), serial(start + end)) == covered, (begin, end)
    assert _between(known, -1, serial(start + 5)) == []


def test_serial_numbers_wrap() -> None:
    assert ahead(1, 0xFFFFFFFF) == 2
    assert ahead(0xFFFFFFFF, 1) == -2


def test_a_link_is_attached_and_its_credit_waited_for() -> None:
    made, transport = peer(ATTACHED_SENDER, credit(3))
    link = made.sender("q", name="l")
    assert link.is_attached and link.credit == 0
    assert made.credit_for(link) == 3
    attach = last(transport)
    assert (attach["role"], attach["target"]["address"], attach["initial_delivery_count"]) == (False, "q", 0)


def test_a_refused_link_is_unmet_and_answered() -> None:
    refusal = says("detach", handle=0, closed=True, error=error("amqp:not-found"))
    made, transport = peer(opened() + begun() + attached("l", "receiver", target=None) + refusal)
    with pytest.raises(Unmet, match="amqp:not-found"):
        made.sender("q", name="l")
    assert names(transport)[-1] == "detach" and last(transport)["closed"] is True


def test_a_refused_link_can_be_looked_at() -> None:
    refusal = says("detach", handle=0, closed=True, error=error("amqp:not-found"))
    made, _ = peer(opened() + begun() + attached("l", "sender", source=None) + refusal)
    link = made.try_attach("receiver", "q", name="l")
    assert link.refused and link.detached_by is not None
    assert link.detached_by.condition == "amqp:not-found"


def test_handles_beyond_the_limit_are_out_of_reach() -> None:
    made, _ = peer(opened() + begun(handle_max=0) + attached("l", "receiver"))
    made.sender("q", name="l")
    with pytest.raises(OutOfReach, match="handle-max is 0"):
        made.sender("q")
    with pytest.raises(OutOfReach, match="handle-max is 0"):
        made.sender("q", handle=7)


def test_a_message_is_sent_and_its_outcome_told() -> None:
    made, transport = peer(ATTACHED_SENDER + credit(3), told(0))
    link = made.sender("q", name="l")
    outgoing = made.outcome(made.transfer(link, b"body"))
    assert (outgoing.outcome, outgoing.settled_by_target, outgoing.tag) == ("accepted", True, bytes(4))
    frame = heard(transport)[-1]
    assert isinstance(frame, TypedFrame) and frame.payload == BODY
    assert (link.credit, link.delivery_count, made.session().next_outgoing_id) == (2, 1, 1)
    assert made.pending("disposition") == []


def test_one_disposition_decides_several_deliveries() -> None:
    made, _ = peer(ATTACHED_SENDER + credit(3), told(0, 1, "released"))
    link = made.sender("q", name="l")
    sent = [made.transfer(link, b"1"), made.transfer(link, b"2"), made.transfer(link, b"3")]
    assert [made.outcome(one).outcome for one in sent[:2]] == ["released", "released"]
    assert not sent[2].is_decided


def test_a_message_is_split_by_what_the_target_takes() -> None:
    made, transport = peer(opened(max_frame_size=512) + begun() + attached("l", "receiver") + credit(1))
    link = made.sender("q", name="l")
    made.transfer(link, bytes(2000))
    frames = [f for f in heard(transport) if isinstance(f, TypedFrame) and f.name == "transfer"]
    assert max(len(f.octets) for f in frames) <= 512 and len(frames) == 5
    assert [f.performative["more"] for f in frames if f.performative] == [True] * 4 + [False]
    assert [f.performative["delivery_id"] for f in frames if f.performative] == [0] + [None] * 4
    assert decode_message(b"".join(f.payload for f in frames)).body == bytes(2000)
    assert link.delivery_count == 1 and made.session().next_outgoing_id == 5


def test_each_transfer_waits_for_the_window() -> None:
    wider = credit(1, next_incoming_id=2, incoming_window=1)
    made, transport = peer(
        opened(max_frame_size=512)
        + begun(incoming_window=2)
        + attached("l", "receiver")
        + credit(1, incoming_window=2),
        wider,
    )
    link = made.sender("q", name="l")
    with pytest.raises(Unmet, match="room in the window"):
        made.transfer(link, bytes(2000))
    assert names(transport).count("transfer") == 3
    made.transfer(link, b"beyond", wait=False)
    assert names(transport).count("transfer") == 4


def test_settlement_without_a_state_counts_as_accepted() -> None:
    made, _ = peer(ATTACHED_SENDER + credit(3), says("disposition", role="receiver", first=0, settled=True))
    sent = made.outcome(made.transfer(made.sender("q", name="l"), b"body"))
    assert (sent.outcome, sent.result) == ("", "accepted")


def test_a_delivery_is_left_open_and_aborted() -> None:
    made, transport = peer(ATTACHED_SENDER + credit(5))
    link = made.sender("q", name="l")
    first = made.transfer(link, b"half", more=True)
    assert made.transfer(link, aborted=True) is first
    assert last(transport)["aborted"] is True and last(transport)["delivery_id"] is None
    assert made.transfer(link, b"next").id == 1


def test_deliveries_are_put_together_of_their_transfers() -> None:
    parts = got(0, BODY[:4], more=True) + says("transfer", payload=BODY[4:], handle=0) + got(1, settled=True)
    made, transport = peer(ATTACHED_RECEIVER, parts)
    link = made.receiver("q", name="l", credit=5)
    flow = last(transport)
    assert (flow["link_credit"], flow["handle"], flow["delivery_count"]) == (5, 0, 0)
    first, second = made.deliveries(link, 2)
    assert (first.id, first.body, len(first.transfers), first.settled) == (0, b"body", 2, False)
    assert (second.tag, second.settled) == (b"\x01", True)
    assert (link.credit, link.delivery_count, link.transfers, link.begun) == (3, 2, 3, 2)
    assert made.session().next_incoming_id == 3 and made.pending("transfer") == []


def test_an_aborted_delivery_is_none() -> None:
    made, _ = peer(ATTACHED_RECEIVER, got(0, more=True) + says("transfer", handle=0, aborted=True) + got(1))
    link = made.receiver("q", name="l", credit=5)
    assert made.delivery(link).id == 1 and link.aborted == 1


def test_a_delivery_that_cannot_come_any_more_is_told_at_once() -> None:
    made, transport = peer(ATTACHED_RECEIVER, says("detach", handle=0, error=error("amqp:link:stolen")))
    link = made.receiver("q", name="l", credit=5)
    with pytest.raises(Unmet, match="expected a delivery, observed detach amqp:link:stolen"):
        made.delivery(link)
    with pytest.raises(Unmet, match="amqp:link:stolen"):
        made.delivery(link)
    assert transport.clock_s < 1


def test_draining_ends_with_the_flow_that_gives_credit_up() -> None:
    made, transport = peer(ATTACHED_RECEIVER, got(0), credit(0, delivery_count=5, drain=True))
    link = made.receiver("q", name="l", credit=5)
    assert [d.body for d in made.drain(link)] == [b"body"]
    assert (link.credit, link.delivery_count) == (0, 5)
    assert last(transport)["drain"] is True


def test_dispositions_name_deliveries() -> None:
    made, transport = peer(ATTACHED_RECEIVER, got(4) + got(5))
    link = made.receiver("q", name="l", credit=5)
    first, second = made.deliveries(link, 2)
    made.disposition(first, second, state="released", settled=False)
    sent = last(transport)
    assert (sent["role"], sent["first"], sent["last"], sent["settled"]) == (True, 4, 5, False)
    assert sent["state"].name == "released"


def test_dispositions_of_a_sender_settle_what_came() -> None:
    made, _ = peer(ATTACHED_RECEIVER, got(0), told(0, role="sender"), begun(1, 1) + says("end", 1))
    link = made.receiver("q", name="l", credit=5)
    delivery = made.delivery(link)
    made.barrier(None)
    assert delivery.settled_by_target and delivery.state_by_target is not None


def test_windows_follow_flows() -> None:
    made, _ = peer(ATTACHED_SENDER + credit(9), credit(9, next_incoming_id=1, incoming_window=4))
    link = made.sender("q", name="l")
    made.transfer(link, b"1", settled=True)
    made.transfer(link, b"2", settled=True)
    made.until(lambda: made.session().remote_incoming_window == 3, "the window")
    assert link.credit == 7


def test_a_barrier_takes_its_own_link_down_and_keeps_the_rest() -> None:
    name = "amqpspec.barrier.1"
    made, transport = peer(
        ATTACHED_SENDER,
        told(0) + attached(name, "receiver", 1) + credit(50, 1),
        says("detach", handle=1, closed=True),
    )
    made.sender("q", name="l")
    made.barrier()
    assert names(transport)[-2:] == ["attach", "detach"]
    assert [frame.name for frame in made.take(lambda frame: True)] == ["begin", "disposition"][1:]


def test_a_barrier_that_is_refused_is_one() -> None:
    name = "amqpspec.barrier.1"
    refused = attached(name, "receiver", 1, target=None) + says("detach", handle=1, error=error())
    made, _ = peer(ATTACHED_SENDER, refused)
    made.sender("q", name="l")
    made.barrier()
    assert made.pending("attach", "detach", channel=None) == []


def test_an_echo_is_a_flow_behind_the_question() -> None:
    made, transport = peer(ATTACHED_SENDER + credit(1), credit(2))
    link = made.sender("q", name="l")
    made.credit_for(link)
    assert made.echo(link=link)["link_credit"] == 2
    assert last(transport)["echo"] is True and link.credit == 2


def test_what_refuted_a_wait_is_still_there_for_the_reaction() -> None:
    made, _ = peer(ATTACHED_SENDER + credit(1), says("end", error=error("amqp:session:errant-link")))
    link = made.sender("q", name="l")
    with pytest.raises(Unmet, match="errant-link"):
        made.outcome(made.transfer(link, b"x"))
    reaction = made.reaction()
    assert reaction.refusal is not None and reaction.refusal.code == "amqp:session:errant-link"


def test_a_session_that_ends_in_answer_to_attach_is_told() -> None:
    made, _ = peer(opened() + begun(), says("end", error=error("amqp:not-found")))
    link = made.try_attach("receiver", "q", name="l")
    over = made.over(link)
    assert link.attached is None and over is link.session.ended_by and over is not None
    made, _ = peer(opened() + begun(), says("end", error=error("amqp:not-found")))
    with pytest.raises(Unmet, match="expected an attached link, observed end amqp:not-found"):
        made.receiver("q", name="l")


def test_a_terminus_that_was_not_asked_for_is_not_missed() -> None:
    made, _ = peer(opened() + begun() + attached("l", "receiver", target=None))
    assert made.sender("q", name="l", target=None).is_attached
    made, _ = peer(opened() + begun() + attached("l", "receiver", target=None))
    with pytest.raises(Unmet, match="attach without target"):
        made.sender("q", name="l")


def test_a_node_is_looked_into_over_a_session_of_its_own() -> None:
    barriers = [attached(f"amqpspec.barrier.{n}", "receiver", 1) + says("detach", handle=1) for n in (2, 3)]
    made, transport = peer(
        opened() + begun() + attached("amqpspec.link.1", "sender"),
        got(0, settled=True) + got(1),
        barriers[0],
        None,
        barriers[1],
        says("detach", handle=0, closed=True) + says("end"),
    )
    made.open_connection()
    assert [d.id for d in made.fetch("q", 2)] == [0, 1]
    sent = names(transport)
    assert sent[:5] == ["open", "begin", "attach", "flow", "attach"]
    assert sent[-3:] == ["disposition", "detach", "end"]


def test_a_delivery_tells_of_its_transfers() -> None:
    made, _ = peer(ATTACHED_RECEIVER, got(0, message_format=7, resume=True, state="released", settled=True))
    delivery = made.delivery(made.receiver("q", name="l", credit=1))
    assert (delivery.format, delivery.resume, delivery.state, delivery.settled) == (7, True, "released", True)


def test_another_peer_is_independent() -> None:
    made, _ = peer(logins={"second": Login("ann", "x")}, vhosts={})
    made.claim("something")
    other = made.another("second", container_id=made.container_id)
    assert (other.login.user, other.claimed, other.container_id) == ("ann", "something", made.container_id)
    assert made.another(vhost="b").hostname == "b"
    assert made.another().container_id != made.container_id


def test_a_handle_that_the_peer_frees_is_used_again() -> None:
    made, _ = peer(ATTACHED_SENDER, says("detach", handle=0, closed=True), attached("m", "receiver", 4))
    link = made.sender("q", name="l")
    assert made.detach(link).link is link
    again = made.sender("q", name="m")
    assert (again.handle, again.remote_handle, link.is_attached) == (0, 4, False)


def test_a_second_answer_to_begin_maps_its_channel_too() -> None:
    made, _ = peer(opened() + begun(), begun(0, 1), says("end", 1))
    made.begin()
    made.send("begin")
    assert made.expect("begin").wire_channel == 1
    assert made.expect("end").channel == 0


def test_octets_with_a_flow_are_counted_by_the_sessions_next_transfer() -> None:
    """A target may number its first transfer as it likes (amqp-1.0 §2.5.6)."""
    first = (1 << 32) - 4
    made, _ = peer(opened() + begun(next_outgoing_id=first) + attached("l", "sender") + got(0))
    counted, after = (credit(2, next_incoming_id=number) for number in (first, first + 1))
    octets = counted.replace(first.to_bytes(4, "big"), bytes(4), 1)
    assert made.counted(octets) == octets != counted, "there is no session yet"
    link = made.receiver("q", name="l")
    assert made.counted(octets) == counted
    assert made.counted(octets, channel=5) == octets, "a channel without a session"
    assert made.counted(after) == after, "a number that was chosen"
    made.delivery(link)
    assert made.counted(octets + octets) == after + after
