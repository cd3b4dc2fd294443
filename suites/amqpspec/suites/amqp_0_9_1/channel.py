"""Channels: opening, flow, closing (amqp-0-9-1 class channel)."""

from __future__ import annotations

from amqpspec.peer.events import Ended, Garbled, Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import settled, witness
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._closing import closing_of, is_unknown, names_method
from amqpspec.suites.amqp_0_9_1._queues import arrive, contents

# 16 MB, far more than sockets keep in their buffers: the server is still sending when flow comes.
FLOOD_MESSAGES = 1000
FLOOD_BODY = b"x" * (16 << 10)


# --- the life of a channel


@case("channel.grammar.before-open", covers=["channel/grammar"])
def method_before_open(peer: Peer) -> Verdict:
    """A method on a channel that was never opened is refused."""
    peer.open_connection()
    peer.send("queue.declare", queue=peer.name("q"), exclusive=True)
    # No barrier: on a channel that is not open it would be the same violation again.
    return rejects_violation(peer, barrier=False)


@case("channel.grammar.content-before-open", covers=["channel/grammar"])
def content_before_open(peer: Peer) -> Verdict:
    """A message published on a channel that was never opened is refused."""
    peer.open_connection()
    peer.publish(peer.name("q"), b"too early")
    return rejects_violation(peer, barrier=False)


@on_channel("channel.grammar.after-close", covers=["channel/grammar"])
def method_after_close(peer: Peer) -> Verdict:
    """A method on a channel that was closed is refused."""
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.send("queue.declare", queue=peer.name("q"), exclusive=True)
    return rejects_violation(peer, barrier=False)


@on_channel("channel.grammar.reopened", covers=["channel/grammar"])
def number_is_free_after_close(peer: Peer) -> Verdict:
    """The number of a closed channel can be opened again."""
    peer.claim("the same channel number open again")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.call("channel.open")
    peer.barrier()
    return holds(peer, True, "channel.open-ok, and answers on the channel")


@on_channel("channel.open.twice", covers=["channel/open/state"])
def open_an_open_channel(peer: Peer) -> Verdict:
    """A second open on an open channel number is refused."""
    peer.send("channel.open")
    return rejects_violation(peer)


# --- flow


@on_queue("channel.flow.initially-active", covers=["channel/flow/initial-state"])
def flow_is_active_at_first(peer: Peer, queue: str) -> Verdict:
    """A channel delivers messages without being activated."""
    peer.consume(queue, no_ack=True)
    peer.claim("a delivery on a channel whose flow was never set")
    peer.publish(queue, b"at once")
    return equals(peer, peer.delivery().body, b"at once", "delivered body")


@on_channel("channel.flow.initially-paused", covers=["channel/flow/initial-state-paused"])
def channel_paused_at_once(peer: Peer) -> Verdict:
    """A channel that is paused right after it was opened delivers nothing to a consumer."""
    peer.claim("no delivery on a channel that was paused immediately")
    peer.call("channel.flow", active=False)
    queue = peer.queue(exclusive=False)
    peer.publish(queue, b"not yet")
    peer.consume(queue, no_ack=True)
    return equals(peer, len(settled(queue, (peer, 1), witness(peer, queue))[0]), 0, "deliveries")


@on_queue("channel.flow.answered-under-load", covers=["channel/flow/bidirectional"])
def flow_is_answered_under_load(peer: Peer, queue: str) -> Verdict:
    """A server that is sending many messages answers flow before it has sent the last of them."""
    for _ in range(FLOOD_MESSAGES):
        peer.publish(queue, FLOOD_BODY)
    arrive(peer, queue, FLOOD_MESSAGES)
    peer.consume(queue, no_ack=True)
    peer.delivery()
    peer.claim(f"channel.flow-ok before the last of {FLOOD_MESSAGES} messages")
    peer.send("channel.flow", active=True)
    # The order of frames decides, not the time: the share that came before differs from run to run.
    before = 1 + len(peer.pending("basic.deliver")) + _deliveries_before_flow_ok(peer)
    return holds(peer, before < FLOOD_MESSAGES, f"channel.flow-ok after {_share(before)} of the messages")


@on_queue("channel.flow.get-while-paused", covers=["channel/flow/get"])
def get_works_while_paused(peer: Peer, queue: str) -> Verdict:
    """A paused channel still answers basic.get with a message."""
    peer.publish(queue, b"asked for")
    peer.call("channel.flow", active=False)
    arrive(peer, queue, 1)
    peer.claim("the message in answer to basic.get on a paused channel")
    message = peer.get(queue)
    return equals(peer, message and message.body, b"asked for", "body")


@on_shared_queue("channel.flow.stops", covers=["channel/flow/active"])
def flow_stops_deliveries(peer: Peer, queue: str) -> Verdict:
    """Deliveries to a consumer stop after flow with active set to zero."""
    peer.consume(queue, no_ack=True)
    peer.claim("no delivery on a channel that was paused")
    peer.call("channel.flow", active=False)
    peer.publish(queue, b"held back")
    peer.barrier(queue=queue)
    return equals(peer, len(settled(queue, (peer, 1), witness(peer, queue))[0]), 0, "deliveries")


@on_channel("channel.flow.resumes", covers=["channel/flow/active"])
def flow_resumes_deliveries(peer: Peer) -> Verdict:
    """Messages held back on a paused channel are delivered after flow with active set to one."""
    queues = peer.queue(), peer.queue()
    for queue in queues:
        peer.consume(queue, no_ack=True)
    peer.claim("the deliveries of two queues that were delayed while the channel was paused")
    peer.call("channel.flow", active=False)
    for queue in queues:
        peer.publish(queue, queue.encode())
    # A message to another queue, after them: when that is delivered, these have been held back.
    free = peer.queue(exclusive=False)
    settled(free, witness(peer, free), sender=(peer, 1))
    peer.call("channel.flow", active=True)
    got = sorted(delivery.body.decode() for delivery in peer.deliveries(2))
    return equals(peer, got, sorted(queues), "delivered bodies")


@case("channel.flow.channel-local", covers=["channel/flow/active"])
def flow_stops_one_channel_only(peer: Peer) -> Verdict:
    """Pausing one channel does not affect the deliveries on another."""
    peer.open_channel(1).open_channel(2)
    queue = peer.queue()
    peer.consume(queue, channel=2, no_ack=True)
    peer.claim("a delivery on channel 2 while channel 1 is paused")
    peer.call("channel.flow", active=False)
    peer.publish(queue, b"not paused")
    return equals(peer, peer.delivery(2).body, b"not paused", "delivered body")


@case("channel.flow-ok.active", covers=["channel/flow-ok"])
def flow_ok_repeats_one(peer: Peer) -> Verdict:
    """flow-ok reports active = 1 after flow with active set to one."""
    return _flow_ok_repeats(peer, active=True)


@case("channel.flow-ok.paused", covers=["channel/flow-ok"])
def flow_ok_repeats_zero(peer: Peer) -> Verdict:
    """flow-ok reports active = 0 after flow with active set to zero."""
    return _flow_ok_repeats(peer, active=False)


# --- close and close-ok


@on_channel("channel.close.failing-declare", covers=["channel/close/failing-method"])
def close_names_the_declaration(peer: Peer) -> Verdict:
    """A channel.close caused by a method contains its class and method ids."""
    peer.send("queue.declare", queue=peer.name("absent"), passive=True)
    return names_method(peer, closing_of(peer, "channel.close"), "queue.declare")


@on_channel("channel.close.failing-publish", covers=["channel/close/failing-method"])
def close_names_the_publication(peer: Peer) -> Verdict:
    """channel.close contains the ids of the failing method, even if a content followed it."""
    # amqp-0-9-1 channel/close/failing-method: a content header and a body came last, but they have no ids.
    peer.publish("key", b"astray", exchange=peer.name("absent"))
    return names_method(peer, closing_of(peer, "channel.close"), "basic.publish")


@case("channel.close.stability.discards", covers=["channel/close/stability-discard"])
def methods_behind_a_close_are_discarded(peer: Peer) -> Verdict:
    """After the server has sent channel.close, it neither answers nor executes a method on that channel."""
    _closed_by_server(peer)
    queue = peer.will_clean("queue", peer.name("q"))
    peer.claim("no answer to a method after the server's close, and no effect")
    peer.send("queue.declare", queue=queue)
    # The channel stays closed until close-ok. Whatever the declaration caused shows once
    # the number is open again.
    peer.send("channel.close-ok")
    peer.call("channel.open")
    answers = [a.name for a in peer.pending("queue.declare-ok")]
    gone = is_unknown(peer, queue)
    observed = f"answers: {', '.join(answers) or 'none'}; the queue {'was not' if gone else 'was'} declared"
    return holds(peer, gone and not answers, observed)


@case("channel.close.stability.discards-content", covers=["channel/close/stability-discard"])
def messages_behind_a_close_are_discarded(peer: Peer) -> Verdict:
    """A message sent on a channel that the server has closed is discarded."""
    peer.open_channel(2)
    # The queue belongs to channel 2: channel 1 is about to be closed.
    queue = peer.queue(channel=2)
    _closed_by_server(peer)
    peer.claim("no message in the queue that was published to after the server's close")
    peer.publish(queue, b"too late")
    peer.send("channel.close-ok")
    peer.call("channel.open")
    return equals(peer, contents(peer, queue), [], "messages")


@case("channel.close.stability.crossing", covers=["channel/close/stability-crossing"])
def crossing_closes(peer: Peer) -> Verdict:
    """The server answers a channel.close of the client that crosses its own with close-ok."""
    _closed_by_server(peer)
    peer.claim("channel.close-ok for the close that crossed the server's")
    peer.send("channel.close", reply_code=200, reply_text="crossing")
    peer.expect("channel.close-ok")
    return holds(peer, True, "channel.close, then channel.close-ok")


@case("channel.close-ok.answer", covers=["channel/close-ok"])
def close_is_answered(peer: Peer) -> Verdict:
    """The server answers channel.close with close-ok, and the connection continues."""
    peer.open_channel(1).open_channel(2)
    peer.claim("channel.close-ok, and the connection continues to work")
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.barrier(2)
    return holds(peer, True, "channel.close-ok, then answers on another channel")


@case("channel.close-ok.after-exception", covers=["channel/close-ok"])
def number_is_free_after_exception(peer: Peer) -> Verdict:
    """After the client has answered the server's channel.close, the channel number can be opened again."""
    _closed_by_server(peer)
    peer.claim("the channel open again after close-ok")
    peer.send("channel.close-ok")
    peer.call("channel.open")
    peer.barrier()
    return holds(peer, True, "channel.open-ok, and answers on the channel")


# --- steps of this module


def _flow_ok_repeats(peer: Peer, *, active: bool) -> Verdict:
    """flow-ok carries the setting of the flow that it answers."""
    peer.open_channel()
    peer.claim(f"channel.flow-ok with active {active}")
    answer = peer.call("channel.flow", active=active)
    return equals(peer, answer["active"], active, "channel.flow-ok with active")


def _closed_by_server(peer: Peer) -> None:
    """Channel 1 closed by an exception of the server, waiting for close-ok; raises Unmet."""
    peer.open_channel()
    # Otherwise the peer would answer close at once, and nothing could be sent between close and close-ok.
    peer.polite = False
    peer.send("queue.declare", queue=peer.name("absent"), passive=True)
    peer.expect("channel.close")


def _deliveries_before_flow_ok(peer: Peer) -> int:
    """How many messages arrive before flow-ok; all of them if it never comes."""
    count = 0
    while count < FLOOD_MESSAGES:
        arrival = peer.read(peer.now() + peer.patience_s)
        if isinstance(arrival, MethodArrived) and arrival.name == "channel.flow-ok":
            return count
        if isinstance(arrival, Ended | Garbled | Quiet):
            return FLOOD_MESSAGES
        count += isinstance(arrival, MethodArrived) and arrival.name == "basic.deliver"
    return count


def _share(count: int) -> str:
    """A rough share that is the same in every run."""
    # The exact number differs from run to run, and results are compared by what was observed.
    return "some" if count < FLOOD_MESSAGES else "all"
