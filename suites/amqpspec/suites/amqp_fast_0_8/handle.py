"""Handles: OPEN, SEND, REPLY, CLOSE, and commands on handles that are not open (handle.open, handle.send …)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import ANY, QUEUE, TOPIC, Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.amqp_fast_0_8.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import NOWHERE, on_handle, silent, subscribe, topic
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_HEAD = encode_message(b"x")
_NEEDS_A_HANDLE: dict[str, tuple[str, dict[str, Any]]] = {
    "handle/send/open": ("handle.send", {"service_type": TOPIC, "dest_name": "t", "fragment": _HEAD}),
    "handle/consume/open": ("handle.consume", {"service_type": TOPIC, "prefetch": 1, "dest_name": "t"}),
    "handle/flow/open": ("handle.flow", {"flow_pause": True}),
    "handle/unget/open": ("handle.unget", {"message_nbr": 1}),
    "handle/query/open": ("handle.query", {"dest_name": "q"}),
    "handle/browse/open": ("handle.browse", {"message_nbr": 1}),
    "handle/prepare/open": ("handle.prepare", {"fragment": _HEAD}),
    "handle/ready/open": ("handle.ready", {}),
    "handle/close/open": ("handle.close", {}),
    "scenarios/browsing/opened-first": ("handle.query", {"message_nbr": 1, "dest_name": "q"}),
}


@case("handle.send.open", covers=["handle/send/open"])
@case("handle.consume.open", covers=["handle/consume/open"])
@case("handle.flow.open", covers=["handle/flow/open"])
@case("handle.unget.open", covers=["handle/unget/open"])
@case("handle.query.open", covers=["handle/query/open"])
@case("scenarios.browsing.opened-first", covers=["scenarios/browsing/opened-first"])
@case("handle.browse.open", covers=["handle/browse/open"])
@case("handle.prepare.open", covers=["handle/prepare/open"])
@case("handle.ready.open", covers=["handle/ready/open"])
@case("handle.close.open", covers=["handle/close/open"])
def a_command_on_a_handle_that_is_not_open(peer: Peer) -> Verdict:
    """A command on a handle that was never opened is refused, although another handle is open."""
    name, fields = _NEEDS_A_HANDLE[peer.context.requirements[0].id]
    peer.open_channel(1, restartable=True)
    peer.open_handle(1)
    peer.send_octets(peer.octets(name, handle_id=NOWHERE, **fields))
    return rejects_violation(peer, 1, NOWHERE)


@case("handle.open.handle-id", covers=["handle/open/handle-id"])
@case("handle.summary.open", covers=["handle/summary/server/open"])
def open_an_open_handle(peer: Peer) -> Verdict:
    """A second OPEN of a handle, on its own channel or on another, is refused."""
    verdicts = []
    for channel in (1, 2):
        line = peer.another().open_channel(2)
        line.open_channel(1)
        line.open_handle(1, 1)
        line.send("handle.open", handle_id=1, channel_id=channel, producer=True, confirm_tag=1)
        verdicts.append(rejects_violation(line, channel, 1))
    return worst(verdicts)


@on_handle("handle.open.not-zero", covers=["handle/open/not-zero"])
def handle_zero(peer: Peer) -> Verdict:
    """A handle-id of zero is refused."""
    peer.send("handle.open", handle_id=0, producer=True, confirm_tag=1)
    return rejects_violation(peer, 1, 0)


@case("handle.open.access", covers=["handle/open/access"])
def rights_that_were_asked_for(peer: Peer) -> Verdict:
    """Three handles on one channel, each opened with one access right, can use that right."""
    peer.open_channel()
    for handle, right in enumerate(("producer", "consumer", "browser"), start=1):
        peer.open_handle(handle, **{right: True})
    name = peer.queue()
    peer.claim("a message that is sent, listed and received")
    peer.store(name, b"x", 1)
    numbers = peer.numbers(name, 3)
    peer.consume(name, 2)
    return equals(peer, (len(numbers), peer.delivery(2).body), (1, b"x"), "numbers and body")


@case("handle.open.access.not-asked", covers=["handle/open/access"])
def rights_that_were_not_asked_for(peer: Peer) -> Verdict:
    """Consuming, sending and browsing on handles without that access right is refused or tolerated."""
    peer.open_channel()
    for handle, right in enumerate(("producer", "browser", "consumer"), start=1):
        peer.open_handle(handle, **{right: True})
    peer.send("handle.consume", handle_id=1, service_type=TOPIC, prefetch=1, dest_name=topic(peer))
    reactions = [peer.reaction(1, 1)]
    peer.publish(topic(peer), b"x", 2, service=TOPIC)
    reactions.append(peer.reaction(1, 2))
    peer.send("handle.query", handle_id=3, dest_name="q")
    reactions.append(peer.reaction(1, 3))
    return worst(borne(peer, reaction) for reaction in reactions)


@case("handle.open.channel", covers=["handle/open/channel"])
def a_handle_belongs_to_its_channel(peer: Peer) -> Verdict:
    """A handle of channel 2 works after channel 1 is closed, and is closed with channel 2."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_handle(7, 2)
    peer.open_handle(8, 2)
    name = topic(peer)
    peer.claim("confirmations until channel 2 closes, then none")
    peer.close_channel(1)
    peer.store(name, b"x", 7, service=TOPIC)
    peer.close_channel(2)
    peer.publish(name, b"x", 8, service=TOPIC)
    refused = peer.reaction(2, 8, barrier="ping").refusal is not None
    return holds(peer, refused, "a refusal" if refused else "no refusal")


@case("handle.open.confirmed", covers=["handle/open/confirmed"])
def handle_open_is_confirmed(peer: Peer) -> Verdict:
    """HANDLE OPEN with a confirm-tag is answered with one HANDLE REPLY, for each of two handles."""
    peer.open_channel()
    peer.claim("two REPLYs, with the handles' ids")
    seen = []
    for handle in (1, 0x0102):
        reply = peer.call("handle.open", handle_id=handle, producer=True)
        seen.append((reply.name, reply["handle_id"]))
    more = silent(peer, "handle.reply", channels=(1,))
    return equals(peer, (seen, more), ([("handle.reply", 1), ("handle.reply", 0x0102)], []), "REPLYs")


# --- SEND


@case("handle.send.service-type", covers=["handle/send/service-type"])
def service_types_of_send(peer: Peer) -> Verdict:
    """Service types 0, 4 and 256 are refused; 1, 2 and 3 are accepted."""
    sound = peer.another().open_handle(1)
    name = sound.queue()
    for service in (QUEUE, TOPIC, ANY):
        sound.store(name, b"x", 1, service=service)
    verdicts = []
    for service in (0, 4, 0x0100):
        line = peer.another().open_handle(1)
        line.publish(line.queue(), b"x", 1, service=service)
        verdicts.append(rejects_violation(line))
    return worst(verdicts)


@on_handle("service-types.any", covers=["service-types/any"])
def any_service(peer: Peer) -> Verdict:
    """Service type 3 refers to the queue of a name if it exists, otherwise to the topic."""
    queue, news = peer.queue(), topic(peer)
    subscribe(peer, news, 2)
    subscribe(peer, queue, 3)
    peer.claim("one message in the queue, one from the topic, none from the topic by the queue's name")
    peer.store(queue, b"for the queue", 1, service=ANY)
    peer.store(news, b"for the topic", 1, service=ANY)
    found = peer.delivery(2).body
    peer.barrier()
    seen = (peer.left_in(queue), found, peer.received(3))
    return equals(peer, seen, ([b"for the queue"], b"for the topic", []), "messages")


@case("handle.summary.send", covers=["handle/summary/server/send"])
@case("handle.summary.consume", covers=["handle/summary/server/consume"])
@case("handle.summary.flow", covers=["handle/summary/server/flow"])
@case("handle.summary.unget", covers=["handle/summary/server/unget"])
def handle_commands_are_confirmed_where_asked(peer: Peer) -> Verdict:
    """SEND, CONSUME, FLOW and UNGET are confirmed once with a tag, and not confirmed without one."""
    row = peer.context.requirements[0].id.rpartition("/")[2]
    peer.claim("one REPLY to the command that requests it")
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    peer.publish_all(name, [b"a", b"b"], 1)
    numbers = iter([message.number for message in peer.deliveries(2, 2)])
    tag = 0x0F01
    for wanted in (0, tag):
        fields: dict[str, dict[str, Any]] = {
            "send": {"fragment": _HEAD, "service_type": TOPIC, "dest_name": name},
            "consume": {"service_type": TOPIC, "prefetch": 1, "dest_name": name, "handle_id": 2},
            "flow": {"flow_pause": True, "handle_id": 2},
            "unget": {"message_nbr": next(numbers), "handle_id": 2},
        }
        peer.send(f"handle.{row}", confirm_tag=wanted, **fields[row])
    found = [(r["confirm_tag"], r["reply_code"] // 100) for r in silent(peer, "handle.reply", channels=(1,))]
    return equals(peer, found, [(tag, 2)], "REPLYs")


@case("handle.reply.confirm-tag", covers=["handle/reply/confirm-tag", "handle/reply/asked"])
def the_tag_of_a_handle_reply(peer: Peer) -> Verdict:
    """HANDLE REPLY contains the tag of its command, at both ends of the range, and the handle id."""
    peer.claim("tags and handles of the commands")
    peer.open_handle(1)
    peer.open_handle(0x0102)
    sent = [(1, 1), (0x0102, 0x0100), (1, 0xFFFF), (0x0102, 0x7FFF)]
    seen = []
    for handle, tag in sent:
        peer.send("handle.flow", handle_id=handle, confirm_tag=tag)
        reply = peer.expect("handle.reply", handle=handle)
        seen.append((reply["handle_id"], reply["confirm_tag"]))
    return equals(peer, seen, sent, "handles and tags")


# --- CLOSE


@case("handle.close.any-time", covers=["handle/close/any-time"])
def close_a_handle_at_any_time(peer: Peer) -> Verdict:
    """A new handle, one that consumes, and one that is paused can be closed."""
    for handle in (1, 2, 3):
        peer.open_handle(handle)
    name = topic(peer)
    peer.consume(name, 2, service_type=TOPIC)
    peer.call("handle.flow", handle_id=3, flow_pause=True)
    peer.claim("HANDLE CLOSE for each")
    seen = [peer.close_handle(handle)["handle_id"] for handle in (1, 2, 3)]
    return equals(peer, seen, [1, 2, 3], "handles")


@case("handle.close.answered", covers=["handle/close/answered"])
@case("handle.summary.close", covers=["handle/summary/server/close"])
def close_is_answered_and_closes(peer: Peer) -> Verdict:
    """HANDLE CLOSE is answered, the handle refuses further commands, and its id can be opened again."""
    peer.open_handle(1)
    peer.open_handle(2)
    peer.claim("CLOSE, a refusal of what follows, and a handle that opens again")
    code = peer.close_handle(2)["reply_code"] // 100
    peer.send("handle.flow", handle_id=2, confirm_tag=1)
    refused = peer.reaction(1, 2).refusal is not None
    peer.open_handle(2)
    return equals(peer, (code, refused), (2, True), "severity, and whether FLOW is refused")


def _in_error(peer: Peer) -> None:
    """Make the target send HANDLE CLOSE for handle 2, and leave that unanswered."""
    peer.open_handle(1)
    peer.open_handle(2)
    peer.polite = False
    peer.publish(peer.name("nowhere"), b"lost", 2)
    arrival = peer.arrival("handle.close", "channel.close", "connection.close", handle=2)
    if not arrival.kind.startswith("handle.close"):
        raise Unmet("HANDLE CLOSE", arrival.describe(peer.dialect))


@case("handle.close.reads-on", covers=["handle/close/reads-on"])
def the_target_waits_for_the_other_handle_close(peer: Peer) -> Verdict:
    """After its HANDLE CLOSE for an error, the target accepts the client's silently, and the handle is closed."""
    _in_error(peer)
    peer.claim(
        "no further HANDLE CLOSE, the other handle works, and a command on the one that is closed is refused"
    )
    peer.send_octets(peer.octets("handle.close", handle_id=2))
    peer.store(topic(peer), b"x", 1, service=TOPIC)
    found = [close["handle_id"] for close in silent(peer, "handle.close")]
    peer.send("handle.flow", handle_id=2, confirm_tag=1)
    refused = peer.reaction(1, 2).refusal is not None
    return equals(peer, (found, refused), ([], True), "further CLOSEs, and whether FLOW is refused")


@case("handle.close.discards", covers=["handle/close/discards"])
def what_comes_behind_a_close_for_an_error(peer: Peer) -> Verdict:
    """After its HANDLE CLOSE for an error, the target may discard commands on the handle until the client's CLOSE."""
    _in_error(peer)
    name = topic(peer)
    subscribe(peer, name, 3)
    peer.claim("the message of the other handle, and no further HANDLE CLOSE")
    peer.publish(name, b"discarded", 2, service=TOPIC)
    peer.store(name, b"kept", 1, service=TOPIC)
    body = peer.delivery(3).body
    if body == b"discarded":
        body = peer.delivery(3).body
    # Whether the target answered what it did not want by another CLOSE is its choice; its wait ends with this one.
    silent(peer, "handle.close")
    peer.send_octets(peer.octets("handle.close", handle_id=2))
    found = [close["handle_id"] for close in silent(peer, "handle.close")]
    return equals(peer, (body, found), (b"kept", []), "message, CLOSEs after the answer")


@case("handle.close.ended", covers=["handle/close/ended"])
def a_handle_closes_alone(peer: Peer) -> Verdict:
    """After both HANDLE CLOSEs, the channel and its other handle continue to work."""
    peer.claim("the neighbour sends, and the channel opens handles")
    peer.open_handle(1)
    peer.open_handle(2)
    name = peer.queue()
    peer.close_handle(2)
    peer.store(name, b"x", 1)
    peer.open_handle(3)
    return equals(peer, peer.left_in(name), [b"x"], "messages")
