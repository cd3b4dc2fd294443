"""FLOW and UNGET (handle.flow, handle.unget)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import on_handle, on_queue, subscribe, topic


@on_queue("handle.flow.pause", covers=["handle/flow/pause"])
def flow_stops_and_restarts(peer: Peer, name: str) -> Verdict:
    """Flow-pause 1 stops the messages of a queue and 0 restarts them, also repeatedly or without a previous pause."""
    peer.reader(name, 2)
    peer.claim("nothing while paused, everything once restarted")
    seen: list[object] = []
    for body in (b"a", b"b"):
        peer.call("handle.flow", handle_id=2, flow_pause=True)
        peer.store(name, body, 1)
        peer.barrier()
        seen.append(len(peer.received(2)))
        peer.call("handle.flow", handle_id=2, flow_pause=False)
        seen.append(peer.delivery(2).body)
    return equals(peer, seen, [0, b"a", 0, b"b"], "messages while paused, and after")


@on_handle("handle.flow.on", covers=["handle/flow/on"])
def messages_flow_by_default(peer: Peer) -> Verdict:
    """Readers of a queue and of a topic receive messages without any FLOW."""
    queue, news = peer.queue(), topic(peer)
    peer.reader(queue, 2)
    subscribe(peer, news, 3)
    peer.claim("both messages")
    peer.store(queue, b"q", 1)
    peer.store(news, b"t", 1, service=TOPIC)
    return equals(peer, (peer.bodies(1, 2), peer.bodies(1, 3)), ([b"q"], [b"t"]), "bodies")


@on_handle("handle.flow.all-destinations", covers=["handle/flow/all-destinations"])
def flow_pauses_all_destinations_of_a_handle(peer: Peer) -> Verdict:
    """FLOW pauses and restarts all destinations of a handle (two topics and a queue), and no other handle."""
    names = [topic(peer), topic(peer)]
    queue = peer.queue()
    peer.reader(queue, 2)
    for name in names:
        peer.consume(name, 2, service_type=TOPIC)
    subscribe(peer, names[0], 3)
    peer.claim("nothing on the paused handle, then one message of each destination")
    peer.call("handle.flow", handle_id=2, flow_pause=True)
    for name in names:
        peer.store(name, name.encode(), 1, service=TOPIC)
    peer.store(queue, queue.encode(), 1)
    other = peer.bodies(1, 3)
    peer.barrier()
    paused = peer.received(2)
    peer.call("handle.flow", handle_id=2, flow_pause=False)
    seen = (other, paused, sorted(peer.bodies(3, 2)))
    everything = sorted(n.encode() for n in (*names, queue))
    return equals(peer, seen, ([names[0].encode()], [], everything), "messages")


@on_queue("handle.flow.others", covers=["handle/flow/others"])
def a_paused_readers_messages_go_to_others(peer: Peer, name: str) -> Verdict:
    """While one reader of a queue is paused, the other one receives every message."""
    peer.reader(name, 2)
    peer.reader(name, 3)
    bodies = [b"%d" % n for n in range(4)]
    peer.claim("all messages for the reader that is not paused")
    peer.call("handle.flow", handle_id=2, flow_pause=True)
    peer.publish_all(name, bodies, 1)
    found = peer.bodies(4, 3)
    peer.barrier()
    return equals(peer, (found, peer.received(2)), (bodies, []), "messages")


# --- UNGET


def _one_delivered(peer: Peer) -> tuple[str, list[int]]:
    """Handle 2 has received two messages of a queue; returns its name, and their numbers."""
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    peer.publish_all(name, [b"a", b"b"], 1)
    return name, [message.number for message in peer.deliveries(2, 2)]


@case("handle.unget.passed-on", covers=["handle/unget/passed-on"])
def unget_passes_a_message_on(peer: Peer) -> Verdict:
    """A message returned with UNGET is delivered to another reader; an ACK of its first reader does not remove it."""
    name, numbers = _one_delivered(peer)
    other = peer.another().open_channel()
    other.reader(name, 1)
    peer.claim("the returned message, for the other reader")
    peer.call("handle.unget", handle_id=2, message_nbr=numbers[1])
    body = other.delivery(1).body
    peer.barrier()
    other.barrier()
    seen = (body, [m.body for m in other.received(1)], peer.received(2))
    peer.ack(numbers[1])
    peer.close_handle(2)
    other.close_channel()
    return equals(peer, (*seen, peer.left_in(name)), (b"b", [], [], [b"b"]), "messages, messages left")


@on_queue("handle.unget.others-flow", covers=["handle/unget/passed-on"])
def unget_holds_nothing_up(peer: Peer, name: str) -> Verdict:
    """UNGET frees a place in the window, and the reader receives the next message (tested twice)."""
    peer.publish_all(name, [b"a", b"b", b"c"], 1)
    peer.claim("one message after the other, and the returned ones for a later reader")
    peer.reader(name, 2, prefetch=1)
    mine = [peer.delivery(2)]
    for _ in range(2):
        peer.call("handle.unget", handle_id=2, message_nbr=mine[-1].number)
        mine.append(peer.delivery(2))
    other = peer.another().open_channel()
    other.reader(name, 1)
    seen = ([message.body for message in mine], sorted(other.bodies(2, 1)))
    return equals(peer, seen, ([b"a", b"b", b"c"], [b"a", b"b"]), "messages")


@on_handle("handle.unget.topic", covers=["handle/unget/open"])
def unget_on_a_topic(peer: Peer) -> Verdict:
    """UNGET on a handle that has received nothing from a queue is refused."""
    name = topic(peer)
    peer.reader(name, 2, service_type=TOPIC)
    peer.close_handle(2)
    peer.send("handle.unget", handle_id=2, message_nbr=1)
    return rejects_violation(peer, 1, 2)


@case("handle.unget.number", covers=["handle/unget/number"])
def unget_of_no_message(peer: Peer) -> Verdict:
    """UNGET of an unknown number, or of another handle's message, is refused."""
    verdicts = []
    for beyond in (1, 1000):
        line = peer.another()
        numbers = _one_delivered(line)[1]
        line.send("handle.unget", handle_id=2, message_nbr=numbers[-1] + beyond)
        verdicts.append(rejects_violation(line, 1, 2))
    return worst(verdicts)


@case("handle.unget.before-ack", covers=["handle/unget/before-ack"])
def unget_behind_an_ack(peer: Peer) -> Verdict:
    """UNGET of a message that an ACK covers is refused; UNGET of the next message is not."""
    _, numbers = _one_delivered(peer)
    peer.ack(numbers[0])
    peer.call("handle.unget", handle_id=2, message_nbr=numbers[1])
    peer.send("handle.unget", handle_id=2, message_nbr=numbers[0])
    return rejects_violation(peer, 1, 2)
