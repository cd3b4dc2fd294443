"""The scenarios: opening, sending, receiving, closing; confirmations, priorities, ids."""

from __future__ import annotations

from itertools import pairwise

from amqpspec.peer.amqp_fast_0_8.peer import QUEUE, TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, outlived
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import (
    LEAST_FRAME_MAX,
    NOWHERE,
    greeted_with_plain,
    on_handle,
    on_queue,
    topic,
)
from amqpspec.wire.amqp_fast_0_8.message import encode_message


@case("scenarios.preparing", covers=["scenarios/preparing/tune", "connection/response/accepted"])
def the_way_to_tune(peer: Peer) -> Verdict:
    """A valid RESPONSE is answered with TUNE."""
    greeted_with_plain(peer)
    peer.claim("CONNECTION TUNE")
    peer.respond()
    return equals(peer, peer.take_tune().name, "connection.tune", "answer")


@case("scenarios.preparing.rounds", covers=["scenarios/preparing/rounds", "connection/response/more"])
def one_round_or_more(peer: Peer) -> Verdict:
    """A RESPONSE is answered with TUNE, or with another CHALLENGE if more is needed."""
    greeted_with_plain(peer)
    peer.claim("TUNE, or another CHALLENGE")
    peer.respond()
    arrival = peer.expect("connection.tune", "connection.challenge")
    return observed_either_way(peer, f"one RESPONSE leads to {arrival.name}")


@case("scenarios.opening.order", covers=["scenarios/opening/order"])
def a_handle_on_a_channel_that_is_not_open(peer: Peer) -> Verdict:
    """HANDLE OPEN on a channel that is not open is refused, although another channel is open."""
    peer.open_channel()
    peer.send("handle.open", channel_id=NOWHERE, handle_id=3, producer=True)
    return rejects_violation(peer, NOWHERE, 3, barrier="ping")


@on_handle("scenarios.sending.any-time", covers=["scenarios/sending/any-time"])
def sending_on_a_handle_that_also_consumes(peer: Peer) -> Verdict:
    """A handle can send before and after it consumes, and while it is paused."""
    name = topic(peer)
    peer.open_handle(2)
    peer.claim("the message sent after CONSUME arrives")
    peer.store(name, b"before", 2, service=TOPIC)
    peer.consume(name, 1, service_type=TOPIC)
    peer.consume(name, 2, service_type=TOPIC)
    peer.store(name, b"behind", 2, service=TOPIC)
    peer.call("handle.flow", handle_id=2, flow_pause=True)
    peer.store(name, b"paused", 2, service=TOPIC)
    return equals(peer, peer.bodies(2, 1), [b"behind", b"paused"], "bodies")


@on_handle("scenarios.receiving.consume-first", covers=["scenarios/receiving/consume-first"])
def nothing_before_consume(peer: Peer) -> Verdict:
    """A handle without CONSUME receives nothing, while another one on the same channel does."""
    peer.open_handle(2)
    name = peer.queue()
    peer.claim("both messages on the consuming handle, none on the other")
    peer.consume(name, 2)
    peer.publish_all(name, [b"a", b"b"], 1)
    bodies = peer.bodies(2, 2)
    peer.barrier()
    return equals(peer, (bodies, peer.received(1)), ([b"a", b"b"], []), "messages by handle")


def _large(peer: Peer, bodies: list[bytes]) -> list[tuple[str, int, bool]]:
    """Commands for channel 1 or its handles while messages of many fragments come: name, handle, partial."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel()
    name = topic(peer)
    for handle in (1, 2):
        peer.reader(name, handle, service_type=TOPIC)
    peer.open_handle(9)
    for body in bodies:
        peer.store(name, body, 9, service=TOPIC)
    for handle in (1, 2):
        peer.deliveries(len(bodies), handle)
    frames = [f for f in peer.listener.frames if f.command and f.command.tier != "connection"]
    return [(f.name, f.args.get("handle_id", 0), bool(f.args.get("partial"))) for f in frames]


@case(
    "scenarios.receiving.fragments",
    covers=["scenarios/receiving/fragments", "handle/notify/consecutive", "messages/fragments/not-mixed"],
)
def fragments_in_a_row(peer: Peer) -> Verdict:
    """The target sends nothing else on a channel between the fragments of a message."""
    peer.claim("after each fragment but the last, the next one of the same handle")
    seen = _large(peer, [b"a" * 5000, b"b" * 5000])
    broken = [(one, two) for one, two in pairwise(seen) if one[2] and two[:2] != one[:2]]
    return holds(peer, not broken, f"{len(seen)} commands, interrupted: {broken[:2]}")


@case("scenarios.receiving.flow", covers=["scenarios/receiving/flow"])
def flow_pauses_and_resumes(peer: Peer) -> Verdict:
    """A paused handle receives nothing; after it is restarted, it receives the messages sent in the meantime."""
    peer.open_handle(9)
    name = topic(peer)
    for handle in (1, 2):
        peer.reader(name, handle, service_type=TOPIC)
    peer.claim("messages for the handle that is not paused, later for the other")
    peer.call("handle.flow", handle_id=1, flow_pause=True)
    peer.publish_all(name, [b"a", b"b"], 9, service=TOPIC)
    flowing = peer.bodies(2, 2)
    peer.barrier()
    paused = peer.received(1)
    peer.call("handle.flow", handle_id=1, flow_pause=False)
    return equals(peer, (flowing, paused, peer.bodies(2, 1)), ([b"a", b"b"], [], [b"a", b"b"]), "bodies")


@case("scenarios.receiving.close", covers=["scenarios/receiving/close", "handle/consume/subscription"])
def nothing_behind_close(peer: Peer) -> Verdict:
    """A closed handle receives nothing, while the other subscriber does."""
    peer.open_handle(9)
    name = topic(peer)
    for handle in (1, 2):
        peer.reader(name, handle, service_type=TOPIC)
    peer.store(name, b"before", 9, service=TOPIC)
    before = [peer.bodies(1, 1), peer.bodies(1, 2)]
    peer.claim("messages only for the open handle")
    peer.close_handle(1)
    peer.publish_all(name, [b"a", b"b"], 9, service=TOPIC)
    behind = peer.bodies(2, 2)
    peer.barrier()
    seen = (before, behind, peer.received(1))
    return equals(peer, seen, ([[b"before"]] * 2, [b"a", b"b"], []), "bodies")


@case("scenarios.receiving.close.by-error", covers=["scenarios/receiving/close"])
def a_handle_in_error_reads_no_more(peer: Peer) -> Verdict:
    """A handle that the target closed for an error receives nothing: the next reader gets both messages."""
    peer.open_handle(9)
    name = peer.queue()
    peer.reader(name, 2)
    peer.publish(peer.name("nowhere"), b"lost", 2)
    peer.expect("handle.close", handle=2)
    peer.claim("both messages for the remaining reader")
    peer.reader(name, 3)
    peer.publish_all(name, [b"a", b"b"], 9)
    return equals(peer, peer.bodies(2, 3), [b"a", b"b"], "bodies")


@on_handle("scenarios.errors.detected", covers=["scenarios/errors/detected"])
def an_error_closes_the_handle(peer: Peer) -> Verdict:
    """A message for a missing queue closes the handle or its channel."""
    peer.open_handle(2)
    peer.publish(peer.name("nowhere"), b"lost", 2)
    return rejects_violation(peer, 1, 2)


@case("scenarios.errors.server-closes", covers=["scenarios/errors/server-closes"])
def a_channel_closes_with_its_handles(peer: Peer) -> Verdict:
    """CHANNEL CLOSE closes the channel's handle and frees its id, and does not affect the handle of another channel."""
    peer.open_handle(1, 1)
    peer.open_channel(2)
    peer.open_handle(2, 2)
    name = peer.queue(2)
    peer.claim("the id of the handle can be used on another channel, and the other handle works")
    peer.close_channel(1)
    peer.open_handle(1, 2)
    peer.store(name, b"one", 1)
    peer.store(name, b"two", 2)
    return equals(peer, peer.left_in(name, 2), [b"one", b"two"], "messages")


@case("scenarios.errors.only-open.channel", covers=["scenarios/errors/only-open"])
def a_command_on_a_channel_that_was_closed(peer: Peer) -> Verdict:
    """After the closing handshake, a COMMIT on the channel is refused."""
    peer.open_channel(1)
    peer.open_channel(2, transacted=True)
    peer.close_channel(2)
    peer.send("channel.commit", channel_id=2)
    return rejects_violation(peer, 2, barrier="ping")


@case("scenarios.errors.only-open.handle", covers=["scenarios/errors/only-open"])
def a_command_on_a_handle_of_a_channel_that_was_closed(peer: Peer) -> Verdict:
    """After the closing handshake of its channel, a SEND on a handle is refused."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_handle(3, 2)
    peer.close_channel(2)
    peer.publish(topic(peer), b"late", 3, service=TOPIC)
    return rejects_violation(peer, 2, 3, barrier="ping")


@case("scenarios.errors.open-again", covers=["scenarios/errors/only-open", "scenarios/errors/server-closes"])
def a_channel_that_was_closed_can_be_opened(peer: Peer) -> Verdict:
    """After the closing handshake, the client can open a new channel, without the state of the old one."""
    peer.open_channel(1, transacted=True)
    peer.open_handle(1)
    peer.claim("the channel, opened again, confirms and is not transacted")
    peer.close_channel(1)
    peer.open_channel(1)
    name = peer.queue()
    peer.open_handle(1)
    peer.store(name, b"new")
    return equals(peer, peer.left_in(name), [b"new"], "messages")


@on_handle("scenarios.browsing.other-failures", covers=["scenarios/browsing/other-failures"])
def a_command_that_fails(peer: Peer) -> Verdict:
    """CONSUME of a missing queue without dynamic closes handle, channel or connection."""
    peer.open_handle(2)
    peer.send("handle.consume", handle_id=2, service_type=QUEUE, prefetch=1, dest_name=peer.name("nowhere"))
    return rejects_violation(peer, 1, 2)


@case(
    "scenarios.confirmations.asked",
    covers=["scenarios/confirmations/asked", "connection/confirmation/non-zero", "handle/reply/asked"],
)
def commands_that_ask_are_confirmed(peer: Peer) -> Verdict:
    """OPEN on each level, CONSUME and FLOW with separate tags are confirmed on their levels."""
    peer.log_in()
    peer.claim("a REPLY for each, with its tag, at its level")
    peer.open(confirm_tag=0xFFFF)
    peer.call("channel.open", channel_id=2, confirm_tag=0x0102)
    peer.call("handle.open", channel_id=2, handle_id=3, consumer=True, confirm_tag=1)
    peer.call(
        "handle.consume",
        handle_id=3,
        service_type=TOPIC,
        prefetch=1,
        dest_name=topic(peer),
        confirm_tag=0x7F00,
    )
    peer.call("handle.flow", handle_id=3, flow_pause=True, confirm_tag=0x8001)
    seen = [(f.name, f.args["confirm_tag"]) for f in peer.listener.frames if f.name.endswith(".reply")]
    wanted = [("connection.reply", 0xFFFF), ("channel.reply", 0x0102)]
    wanted += [("handle.reply", tag) for tag in (1, 0x7F00, 0x8001)]
    return equals(peer, seen, wanted, "REPLYs")


@on_handle("scenarios.confirmations.not-batched", covers=["scenarios/confirmations/not-batched"])
def a_reply_comes_before_what_later_commands_cause(peer: Peer) -> Verdict:
    """For commands in one write, the target sends each REPLY before the results of later commands."""
    peer.open_handle(2)
    name = peer.queue()
    peer.store(name, b"one")
    peer.claim("REPLYs in the order of their commands, and INDEX between those around its QUERY")
    tags = [peer.fresh_tag() for _ in range(3)]
    octets = [
        peer.octets("handle.flow", handle_id=2, flow_pause=True, confirm_tag=tags[0]),
        peer.octets("handle.flow", handle_id=2, flow_pause=False, confirm_tag=tags[1]),
        peer.octets("handle.query", handle_id=2, dest_name=name),
        peer.octets("handle.flow", handle_id=2, flow_pause=True, confirm_tag=tags[2]),
    ]
    peer.send_octets(b"".join(octets))
    peer.confirmation(tags[2], 2)
    frames = [f for f in peer.listener.frames if f.args.get("handle_id") == 2][-4:]
    seen = [f.args.get("confirm_tag", f.name) for f in frames]
    return equals(peer, seen, [tags[0], tags[1], "handle.index", tags[2]], "answers")


@on_handle("scenarios.confirmations.reply-last", covers=["scenarios/confirmations/reply-last"])
def created_comes_before_its_reply(peer: Peer) -> Verdict:
    """CREATED for a queue without a name arrives before the REPLY to its CONSUME."""
    peer.open_handle(2)
    peer.claim("CREATED, then REPLY")
    for handle in (1, 2):
        peer.consume("", handle, dynamic=True)
        peer.expect("handle.created", handle=handle)
    frames = [f for f in peer.listener.frames if f.name in ("handle.created", "handle.reply")][-4:]
    seen = [(f.name, f.args["handle_id"]) for f in frames]
    wanted = [(name, handle) for handle in (1, 2) for name in ("handle.created", "handle.reply")]
    return equals(peer, seen, wanted, "commands")


@on_queue(
    "priorities.connection",
    covers=["priorities/connection", "priorities/ping", "connection/summary/server/ping"],
)
def ping_in_the_midst_of_a_message(peer: Peer, name: str) -> Verdict:
    """A PING between two fragments of a message is answered before the message is complete."""
    message = encode_message(b"in two parts")
    first, rest = peer.fragments(name, message, chunk=len(message) - 3)
    peer.claim("an answer to PING, and the whole message")
    peer.send_octets(first)
    peer.ping()
    peer.send_octets(rest)
    return equals(peer, peer.left_in(name), [b"in two parts"], "messages")


@case("ids.never-the-server", covers=["ids/never-the-server"])
def the_server_uses_ids_of_the_client_only(peer: Peer) -> Verdict:
    """The target uses only channel and handle ids that the client opened."""
    peer.open_channel(0xFF00)
    peer.open_handle(0x00FF, 0xFF00)
    peer.open_handle(0x0100, 0xFF00)
    name = peer.queue(0xFF00)
    peer.claim("ids that the client chose")
    peer.consume(name, 0x0100)
    peer.publish_all(name, [b"a", b"b"], 0x00FF)
    peer.deliveries(2, 0x0100)
    handles = {f.args["handle_id"] for f in peer.listener.frames if "handle_id" in f.args}
    channels = {f.args["channel_id"] for f in peer.listener.frames if "channel_id" in f.args}
    known = {0xFF, 0x100, *peer.channel_of}
    return holds(
        peer, handles <= known and channels <= {0xFF00}, f"handles {handles - known}, channels {channels}"
    )


@case("ids.checked", covers=["ids/checked"])
def ids_at_the_edges(peer: Peer) -> Verdict:
    """The target serves the highest ids of channels and handles, or refuses them by its own check."""
    peer.open_connection()
    peer.claim("an open channel or handle, or a refusal")
    peer.send("channel.open", channel_id=0xFFFF)
    peer.send("handle.open", channel_id=0xFFFF, handle_id=0xFFFF, producer=True)
    peer.publish(topic(peer), b"sent", 0xFFFF, service=TOPIC)
    reaction = peer.reaction(0xFFFF, 0xFFFF)
    return outlived(peer, observed_either_way(peer, "refused" if reaction.refusal else "served"))
