"""CONSUME and its effects: windows, options, created queues, NOTIFY (handle.consume, handle.notify)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import ANY, QUEUE, TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX, on_handle, on_queue, subscribe, topic


@case("handle.consume.service-type", covers=["handle/consume/service-type"])
def service_types_of_consume(peer: Peer) -> Verdict:
    """Service types any, 0 and 258 are refused."""
    verdicts = []
    for service in (ANY, 0, 0x0102):
        line = peer.another().open_handle(1)
        name = line.queue()
        line.send("handle.consume", service_type=service, prefetch=1, dest_name=name, dynamic=True)
        verdicts.append(rejects_violation(line))
    return worst(verdicts)


@on_queue("handle.consume.prefetch.acked-twice", covers=["handle/consume/prefetch"])
def an_ack_makes_room_once(peer: Peer, name: str) -> Verdict:
    """In a transaction with a prefetch of 2, two ACKs of one message free one place, at the ACK or at COMMIT."""
    peer.publish_all(name, [b"%d" % n for n in range(6)], 1)
    peer.open_channel(2, transacted=True)
    peer.claim("at most two messages more than were acknowledged")
    peer.reader(name, 2, 2, prefetch=2)
    first, _ = peer.deliveries(2, 2)
    for _ in range(2):
        peer.ack(first.number, 2)
    peer.barrier(2)
    more = len(peer.received(2))
    return holds(peer, more <= 1, f"{more} more")


@on_handle("handle.consume.prefetch", covers=["handle/consume/prefetch"])
def prefetch_limits_what_is_sent(peer: Peer) -> Verdict:
    """A prefetch of 3 allows three messages, each ACK frees places, and another reader has a separate window."""
    name, other = peer.queue(), peer.queue()
    for queue in (name, other):
        peer.publish_all(queue, [b"%d" % n for n in range(6)], 1)
    peer.claim("three messages, then as many as were acknowledged; one for the other reader")
    peer.reader(name, 2, prefetch=3)
    peer.open_channel(2)
    peer.reader(other, 3, 2, prefetch=1)
    first = peer.deliveries(3, 2)
    peer.barrier(1)
    early = peer.received(2)
    peer.ack(first[1].number)
    second = peer.bodies(2, 2)
    peer.barrier(1)
    peer.barrier(2)
    seen = (early, second, peer.received(2), len(peer.received(3)))
    return equals(
        peer, seen, ([], [b"3", b"4"], [], 1), "messages before and after ACK, and of the other reader"
    )


@on_handle("handle.consume.prefetch-zero", covers=["handle/consume/prefetch-range"])
def prefetch_zero(peer: Peer) -> Verdict:
    """A prefetch of zero is refused."""
    peer.send("handle.consume", service_type=TOPIC, dest_name=topic(peer), confirm_tag=1)
    return rejects_violation(peer)


@on_handle("handle.consume.prefetch-range", covers=["handle/consume/prefetch-range"])
def the_ends_of_prefetch(peer: Peer) -> Verdict:
    """A prefetch of 1 allows one message, and a prefetch of 65535 allows all."""
    names = [topic(peer), topic(peer)]
    peer.claim("one message, and four")
    for handle, (name, prefetch) in enumerate(zip(names, (1, 0xFFFF), strict=True), start=2):
        subscribe(peer, name, handle, prefetch=prefetch)
        peer.publish_all(name, [b"%d" % n for n in range(4)], 1, service=TOPIC)
    peer.barrier()
    seen = [len(peer.received(handle)) for handle in (2, 3)]
    return equals(peer, seen, [1, 4], "messages")


@case("handle.consume.several", covers=["handle/consume/prefetch", "scenarios/receiving/close"])
def a_handle_that_reads_two_queues(peer: Peer) -> Verdict:
    """An ACK reopens the windows of both queues that a handle consumes, and after CLOSE it consumes neither."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_handle(1)
    names = [peer.queue(), peer.queue()]
    for name in names:
        peer.publish_all(name, [b"1", b"2"], 1)
    peer.open_handle(2, 2)
    peer.claim("one message of each queue, one more of each after ACK, then none")
    for name in names:
        peer.consume(name, 2, prefetch=1)
    first = peer.deliveries(2, 2)
    peer.ack(max(message.number for message in first), 2)
    second = peer.deliveries(2, 2)
    peer.ack(max(message.number for message in second), 2)
    peer.close_handle(2)
    for name in names:
        peer.store(name, b"behind", 1)
    seen = ([m.body for m in (*first, *second)], [peer.left_in(name) for name in names])
    return equals(peer, seen, ([b"1", b"1", b"2", b"2"], [[b"behind"]] * 2), "messages, messages left")


@on_handle("handle.consume.no-local", covers=["handle/consume/no-local"])
def no_local(peer: Peer) -> Verdict:
    """With no-local, a subscriber receives only messages of other connections; without it, also its own."""
    other = peer.another().open_handle(1)
    name = topic(peer)
    subscribe(peer, name, 2, no_local=True)
    subscribe(peer, name, 3)
    peer.claim("only the other connection's message, or both")
    peer.store(name, b"own", 1, service=TOPIC)
    other.store(name, b"other", 1, service=TOPIC)
    seen = (peer.bodies(1, 2), peer.bodies(2, 3))
    return equals(peer, seen, ([b"other"], [b"own", b"other"]), "bodies")


@on_queue("handle.consume.no-ack", covers=["handle/consume/no-ack"])
def no_ack(peer: Peer, name: str) -> Verdict:
    """With no-ack, messages are delivered beyond the prefetch without ACKs, and are removed once sent."""
    peer.open_channel(2)
    peer.reader(name, 2, 2, no_ack=True, prefetch=2)
    bodies = [b"%d" % n for n in range(6)]
    peer.claim("all messages, and an empty queue after the channel ends")
    peer.publish_all(name, bodies, 1)
    seen = peer.bodies(6, 2)
    peer.close_channel(2)
    return equals(peer, (seen, peer.left_in(name)), (bodies, []), "messages")


@on_handle("handle.consume.dynamic", covers=["handle/consume/dynamic"])
def dynamic_queues(peer: Peer) -> Verdict:
    """With dynamic, a missing queue is created with the given name, and an existing one is consumed."""
    name = peer.will_clean("queue", peer.name("dynamic"))
    peer.open_channel(2)
    peer.claim("messages from the queue that was created, for both readers of that name")
    peer.reader(name, 2, dynamic=True)
    peer.store(name, b"first", 1)
    first = peer.delivery(2)
    peer.ack(first.number)
    peer.close_handle(2)
    peer.store(name, b"second", 1)
    peer.reader(name, 3, 2, dynamic=True)
    second = peer.delivery(3)
    peer.ack(second.number, 2)
    seen = [(m.body, m.dest_name) for m in (first, second)]
    return equals(peer, seen, [(b"first", name), (b"second", name)], "messages")


@case("handle.consume.generated", covers=["handle/consume/generated", "handle/created/unnamed"])
def queues_without_a_name(peer: Peer) -> Verdict:
    """A dynamic queue without a name gets one, which CREATED reports for the right handle, and is consumed at once."""
    for handle in (1, 2, 3):
        peer.open_handle(handle)
    peer.claim("two names, and the message of each queue for its reader")
    names = []
    for handle in (2, 3):
        peer.consume("", handle, dynamic=True)
        names.append(peer.expect("handle.created", handle=handle)["dest_name"])
    for name, body in zip(names, (b"a", b"b"), strict=True):
        peer.store(name, body, 1)
    seen = (all(names), len(set(names)), peer.bodies(1, 2), peer.bodies(1, 3))
    return equals(peer, seen, (True, 2, [b"a"], [b"b"]), "names and messages")


@case("handle.created.unique", covers=["handle/created/unique"])
def generated_names_are_unique(peer: Peer) -> Verdict:
    """Ten generated queues of two connections have ten different names."""
    peer.open_channel()
    other = peer.another().open_channel()
    peer.claim("ten names")
    names = [line.queue() for _ in range(5) for line in (peer, other)]
    return equals(peer, len(set(names)), 10, "names")


@on_handle("handle.consume.exclusive", covers=["handle/consume/exclusive"])
def exclusive_readers(peer: Peer) -> Verdict:
    """A second reader of an exclusive queue is refused, and so is an exclusive reader of a queue with a reader."""
    peer.open_handle(2)
    name, shared = peer.queue(), peer.queue()
    peer.consume(name, 1, exclusive=True)
    other, third = peer.another().open_handle(1), peer.another().open_handle(1)
    other.open_handle(3)
    other.consume(shared, 3)
    other.send("handle.consume", service_type=QUEUE, prefetch=1, dest_name=name)
    third.send("handle.consume", service_type=QUEUE, prefetch=1, dest_name=shared, exclusive=True)
    peer.send("handle.consume", handle_id=2, service_type=QUEUE, prefetch=1, dest_name=name)
    return worst([rejects_violation(other), rejects_violation(third), rejects_violation(peer, 1, 2)])


@on_queue("handle.consume.exclusive.first", covers=["handle/consume/exclusive"])
def the_exclusive_reader_reads(peer: Peer, name: str) -> Verdict:
    """The exclusive reader receives the messages, and after it has closed, another may consume."""
    peer.claim("a message for each reader")
    peer.reader(name, 2, exclusive=True)
    peer.store(name, b"a", 1)
    first = peer.delivery(2)
    peer.ack(first.number)
    peer.close_handle(2)
    peer.reader(name, 3, exclusive=True)
    peer.store(name, b"b", 1)
    return equals(peer, (first.body, peer.delivery(3).body), (b"a", b"b"), "bodies")


@on_handle("handle.consume.selector", covers=["handle/consume/selector"], needs=["selectors"])
def selectors(peer: Peer) -> Verdict:
    """A selector matches messages that have all its fields with their values; an empty value matches any."""
    name = topic(peer)
    subscribe(peer, name, 2, selector={"COLOUR": b"red", "SHAPE": b""})
    subscribe(peer, name, 3)
    headers = [
        {"COLOUR": "red", "SHAPE": "round"},
        {"COLOUR": "blue", "SHAPE": "round"},
        {"COLOUR": "red"},
        {"SHAPE": "flat"},
        {},
        {"COLOUR": "red", "SHAPE": "", "MORE": 1},
    ]
    peer.claim("the messages that fit, and all of them without a selector")
    for number, fields in enumerate(headers):
        peer.store(name, b"%d" % number, 1, service=TOPIC, headers=fields)
    peer.barrier()
    seen = [[m.body for m in peer.received(handle)] for handle in (2, 3)]
    return equals(peer, seen, [[b"0", b"5"], [b"%d" % n for n in range(6)]], "bodies")


@on_handle("handle.consume.subscription", covers=["handle/consume/subscription"])
def subscriptions_end(peer: Peer) -> Verdict:
    """A subscription ends with its handle or channel, and messages sent before it are not delivered."""
    name = topic(peer)
    peer.open_channel(2)
    peer.store(name, b"early", 1, service=TOPIC)
    subscribe(peer, name, 2)
    subscribe(peer, name, 3, 2)
    subscribe(peer, name, 4)
    peer.claim("messages for the handle that stays open, none for those that closed")
    peer.close_handle(2)
    peer.close_channel(2)
    peer.publish_all(name, [b"a", b"b"], 1, service=TOPIC)
    stayed = peer.bodies(2, 4)
    peer.barrier()
    seen = (stayed, peer.received(2), peer.received(3))
    return equals(peer, seen, ([b"a", b"b"], [], []), "messages")


# --- NOTIFY


@on_handle("handle.notify.handle", covers=["handle/notify/handle"])
def notify_names_its_handle(peer: Peer) -> Verdict:
    """NOTIFY contains the id of the handle that consumed or browsed."""
    first, second = peer.queue(), peer.queue()
    peer.store(second, b"shown", 1)
    peer.reader(first, 0x0102)
    peer.open_handle(0x0103)
    peer.claim("each message for its handle")
    peer.store(first, b"read", 1)
    read = peer.delivery(0x0102)
    shown = peer.browse(peer.numbers(second, 0x0103)[0], 0x0103)
    return equals(peer, (read.body, shown.body), (b"read", b"shown"), "bodies")


@case("handle.notify.delivered", covers=["handle/notify/delivered"])
def the_flag_delivered(peer: Peer) -> Verdict:
    """Delivered is set in all fragments of a consumed message, and not in those of a browsed one."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel()
    peer.open_handle(1)
    name = peer.queue()
    peer.publish_all(name, [b"d" * 3000, b"small"], 1)
    peer.claim("0 for browsing, 1 for consuming")
    shown = [peer.browse(number) for number in peer.numbers(name)]
    peer.reader(name, 2)
    read = peer.deliveries(2, 2)
    flags = [{f.args["delivered"] for m in messages for f in m.frames} for messages in (shown, read)]
    return equals(peer, flags, [{False}, {True}], "flags")


@case("handle.notify.redelivered", covers=["handle/notify/redelivered"])
def the_flag_redelivered(peer: Peer) -> Verdict:
    """Redelivered is zero at first, and set when the message is redelivered after its channel was closed."""
    peer.open_channel(1)
    peer.open_channel(2)
    name = peer.queue(1)
    peer.open_handle(1, 1)
    peer.reader(name, 2, 2)
    peer.publish_all(name, [b"a", b"b"], 1)
    first = [m.redelivered for m in peer.deliveries(2, 2)]
    peer.claim("0, then 1; 0 for a message that is new")
    peer.close_channel(2)
    peer.reader(name, 3)
    peer.store(name, b"new", 1)
    again = [m.redelivered for m in peer.deliveries(3, 3)]
    return equals(peer, (first, again), ([False, False], [True, True, False]), "flags")


@case("handle.notify.dest-name", covers=["handle/notify/dest-name"])
def the_last_fragment_names_the_destination(peer: Peer) -> Verdict:
    """Only the last fragment contains the destination's full name, for queues and topics."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel()
    peer.open_handle(1)
    queue, news = peer.queue(), topic(peer)
    peer.reader(queue, 2)
    subscribe(peer, news, 3)
    peer.claim("empty names, then the full one")
    peer.store(queue, b"q" * 3000, 1)
    peer.store(news, b"t", 1, service=TOPIC)
    messages = [peer.delivery(2), peer.delivery(3)]
    names = [[f.args["dest_name"] for f in m.frames] for m in messages]
    wanted = [[""] * (len(m.frames) - 1) + [name] for m, name in zip(messages, (queue, news), strict=True)]
    return holds(peer, names == wanted and len(names[0]) > 2, f"names {names}")
