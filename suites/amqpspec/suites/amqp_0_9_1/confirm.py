"""Publisher confirms: every publication is answered, counted from one, when it has been dealt with.

(amqp-0-9-1 class confirm, which RabbitMQ added.)
"""

from __future__ import annotations

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue

_NEEDS = ("confirm",)
# Repeated, as a confirmation that comes too early wins its race only sometimes.
_ROUNDS = 20
_PERSISTENT = {"delivery_mode": 2}
_NEVER_RETURNED = "the mandatory flag, which is a SHOULD, has no effect: nothing is returned"


@case("confirm.every.routed", covers=["confirm/every-message"], needs=_NEEDS)
def routed_messages_are_confirmed(peer: Peer) -> Verdict:
    """Messages that reach a queue are confirmed."""
    queue = _confirming(peer)
    peer.claim("a confirmation for each message")
    for number in range(_ROUNDS):
        peer.publish(queue, b"%d" % number)
    return equals(peer, _confirmed(peer, _ROUNDS), _all(_ROUNDS), "confirmed")


@case("confirm.every.unrouted", covers=["confirm/every-message"], needs=_NEEDS)
def unrouted_messages_are_confirmed(peer: Peer) -> Verdict:
    """Messages that reach no queue are confirmed too."""
    _confirming(peer)
    # An exchange with no bindings: the server is done with such a message immediately, and has to confirm it.
    exchange = peer.exchange("fanout")
    peer.claim("a confirmation for each message")
    for number in range(3):
        peer.publish("nowhere", b"%d" % number, exchange=exchange)
    return equals(peer, _confirmed(peer, 3), _all(3), "confirmed")


@case("confirm.every.consumed", covers=["confirm/every-message"], needs=_NEEDS)
def consumed_messages_are_confirmed(peer: Peer) -> Verdict:
    """Messages delivered directly to a consumer are confirmed, whether acknowledged or not."""
    queue = _confirming(peer)
    peer.open_channel(2)
    peer.consume(queue, channel=2)
    peer.claim("a confirmation for each message")
    for body in (b"acknowledged", b"left"):
        peer.publish(queue, body)
    peer.send("basic.ack", channel=2, delivery_tag=peer.delivery(2)["delivery_tag"])
    peer.delivery(2)
    return equals(peer, _confirmed(peer, 2), _all(2), "confirmed")


@on_queue("confirm.sequence.from-one", covers=["confirm/sequence"], needs=_NEEDS)
def counting_begins_with_select(peer: Peer, queue: str) -> Verdict:
    """Publications are numbered from one after select; earlier ones are neither counted nor confirmed."""
    for body in (b"before", b"before"):
        peer.publish(queue, body)
    peer.claim("confirmations of 1 and 2, and no others")
    peer.call("confirm.select")
    for body in (b"first", b"second"):
        peer.publish(queue, body)
    # A count that includes what was published before select would give 3 and 4.
    return equals(peer, _confirmed(peer, 2, queue), _all(2), "confirmed")


@case("confirm.sequence.one-by-one", covers=["confirm/sequence"], needs=_NEEDS)
def counting_goes_up(peer: Peer) -> Verdict:
    """Each publication has the next number, routed or not."""
    queue = _confirming(peer)
    peer.claim("each message confirmed by the next number")
    tags = []
    for key in (queue, "nowhere", queue, "nowhere", queue):
        peer.publish(key, b"next")
        tags.append(peer.expect("basic.ack")["delivery_tag"])
    return equals(peer, tags, [1, 2, 3, 4, 5], "numbers")


@case("confirm.sequence.select-again", covers=["confirm/sequence"], needs=_NEEDS)
def selecting_again_goes_on_counting(peer: Peer) -> Verdict:
    """The first select starts the numbering, and another one does not restart it."""
    queue = _confirming(peer)
    peer.publish(queue, b"first")
    peer.expect("basic.ack")
    peer.claim("the number 2 after a second select")
    peer.call("confirm.select")
    peer.publish(queue, b"second")
    return equals(peer, peer.expect("basic.ack")["delivery_tag"], 2, "number")


@case("confirm.sequence.each-channel", covers=["confirm/sequence"], needs=_NEEDS)
def channels_count_for_themselves(peer: Peer) -> Verdict:
    """Each channel numbers its own publications, and a channel without select receives no confirmations."""
    queue = _confirming(peer)
    for channel in (2, 3):
        peer.open_channel(channel)
    peer.call("confirm.select", channel=2)
    peer.claim("both channels count from 1, the third one does not count")
    for channel in (1, 1, 3, 2, 3):
        peer.publish(queue, b"mine", channel=channel)
    seen = [_confirmed(peer, 2, queue), _confirmed(peer, 1, queue, channel=2)]
    # What channel 3 published has been dealt with: each of the other two had a confirmation after it.
    peer.barrier(3, queue=queue)
    strays = len(peer.pending("basic.ack", "basic.nack", channel=3))
    return equals(peer, (seen, strays), ([_all(2), _all(1)], 0), "confirmed by channel, strays on the third:")


@case("confirm.all.once", covers=["confirm/all-messages-acknowledged"], needs=_NEEDS)
def everything_is_confirmed_once(peer: Peer) -> Verdict:
    """Each of many messages of every kind is confirmed exactly once."""
    queue = _confirming(peer)
    bodies = (b"", b"small", b"x" * 5000)
    kinds = [(key, body, how) for key in (queue, "nowhere") for body in bodies for how in ({}, _PERSISTENT)]
    peer.claim("one confirmation for each message")
    for _ in range(_ROUNDS):
        for key, body, how in kinds:
            peer.publish(key, body, properties=how)
    total = _ROUNDS * len(kinds)
    return equals(peer, _confirmed(peer, total, queue), _all(total), "confirmed")


@case("confirm.all.mandatory", covers=["confirm/all-messages-acknowledged"], needs=_NEEDS)
def mandatory_messages_are_confirmed(peer: Peer) -> Verdict:
    """Mandatory messages are confirmed whether they are routed or returned."""
    queue = _confirming(peer)
    peer.claim("one confirmation for each message")
    for key in (queue, "nowhere", "nowhere", queue):
        peer.publish(key, b"mandatory", mandatory=True)
    return equals(peer, _confirmed(peer, 4, queue), _all(4), "confirmed")


@on_channel("confirm.queues.enqueued", covers=["confirm/all-queues"], needs=_NEEDS)
def confirmed_when_in_all_queues(peer: Peer) -> Verdict:
    """A confirmed message is in each queue that it was routed to, also for another connection."""
    exchange, queues = peer.exchange("fanout"), [peer.queue(durable=True) for _ in range(5)]
    for queue in queues:
        peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.call("confirm.select")
    other = peer.another().open_channel()
    peer.claim("a confirmed message is available in every queue")
    had = []
    for _ in range(_ROUNDS):
        peer.publish(body=b"everywhere", exchange=exchange)
        peer.expect("basic.ack")
        # Immediately, on another connection: a message that has not reached the queue yet is missing there.
        had.append(sum(other.get(queue) is not None for queue in queues))
    return equals(peer, had, [len(queues)] * _ROUNDS, "queues that had the message, by round:")


@on_channel("confirm.queues.persisted", covers=["confirm/all-queues"], needs=_NEEDS, restarts=True)
def confirmed_when_persisted(peer: Peer) -> Verdict:
    """Confirmed persistent messages are in their durable queues after a restart."""
    exchange, queues = peer.exchange("fanout"), [peer.queue(durable=True) for _ in range(2)]
    for queue in queues:
        peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.call("confirm.select")
    for number in range(_ROUNDS):
        peer.publish(body=b"%d" % number, exchange=exchange, properties=_PERSISTENT)
    _confirmed(peer, _ROUNDS)
    peer.context.restart()
    after = peer.another().open_channel()
    after.claim("every confirmed message in every queue after a restart")
    had = [len({message.body for message in after.drain(queue)}) for queue in queues]
    return equals(after, had, [_ROUNDS, _ROUNDS], "messages by queue")


@case("confirm.unroutable.returned-first", covers=["confirm/unroutable-messages"], needs=_NEEDS)
def returned_before_confirmed(peer: Peer) -> Verdict:
    """A mandatory message that reaches no queue is first returned and then confirmed."""
    _confirming(peer)
    peer.claim("basic.return, then basic.ack")
    seen = []
    for number in range(3):
        peer.publish("nowhere", b"%d" % number, mandatory=True)
        seen.append(peer.expect("basic.return", "basic.ack", "basic.nack").name)
        second = peer.arrival("basic.return", "basic.ack", "basic.nack")
        # The confirmation came and nothing after it: the flag has no effect here, which another row judges.
        if seen == ["basic.ack"] and isinstance(second, Quiet):
            return does_not_apply(peer, _NEVER_RETURNED)
        seen.append(second.name if isinstance(second, MethodArrived) else second.describe(peer.dialect))
    return equals(peer, seen, ["basic.return", "basic.ack"] * 3, "order")


@case("confirm.unroutable.returned-in-a-row", covers=["confirm/unroutable-messages"], needs=_NEEDS)
def each_returned_before_confirmed(peer: Peer) -> Verdict:
    """Each of several unroutable mandatory messages is returned before it is confirmed."""
    queue = _confirming(peer)
    peer.claim("no message is confirmed before its return")
    for number in range(1, _ROUNDS + 1):
        peer.publish("nowhere", b"%d" % number, mandatory=True)
    returned, early, confirmed = 0, 0, 0
    while confirmed < _ROUNDS:
        arrival = peer.expect("basic.return", "basic.ack")
        if arrival.name == "basic.return":
            returned += 1
        else:
            # With multiple, a tag confirms all up to it: each of these needs its return before.
            confirmed = max(confirmed, arrival["delivery_tag"])
            early += confirmed > returned
    # A return that is later than its confirmation is the violation: it is counted as well.
    while returned < _ROUNDS and _is_return(peer.arrival("basic.return")):
        returned += 1
    peer.barrier(queue=queue)
    returned += len(peer.pending("basic.return"))
    if not returned:
        return does_not_apply(peer, _NEVER_RETURNED)
    return equals(peer, (returned, early), (_ROUNDS, 0), "number of returned and of early confirmed messages")


@on_channel("confirm.select.transacted", covers=["confirm/select/transacted"], needs=[*_NEEDS, "tx"])
def select_on_a_transacted_channel(peer: Peer) -> Verdict:
    """confirm.select on a channel with transactions is refused."""
    peer.call("tx.select")
    peer.send("confirm.select")
    return rejects_violation(peer)


# --- steps


def _confirming(peer: Peer) -> str:
    """Channel 1 in confirm mode, and a queue."""
    peer.open_channel()
    queue = peer.queue()
    peer.call("confirm.select")
    return queue


def _is_return(arrival: Arrival) -> bool:
    return isinstance(arrival, MethodArrived) and arrival.name == "basic.return"


def _all(count: int) -> str:
    return f"{count} messages once each: 1 to {count}"


def _confirmed(peer: Peer, count: int, queue: str = "", channel: int = 1) -> str:
    """Receive confirmations until all of 1 to ``count`` are there; returns a description.

    With ``queue`` also what arrives before the confirmation of one more message, which is published to it.
    """
    tags: list[int] = []
    _take_confirmations(peer, tags, count, channel)
    if queue:
        peer.publish(queue, b"one more", channel=channel)
        _take_confirmations(peer, tags, count + 1, channel)
    if sorted(tags) == list(range(1, count + 1 + bool(queue))):
        return _all(count)
    return f"{len(tags)} confirmations: {sorted(tags)}"


def _take_confirmations(peer: Peer, tags: list[int], count: int, channel: int) -> None:
    while len(set(tags) & set(range(1, count + 1))) < count:
        _note(tags, peer.expect("basic.ack", "basic.nack", channel=channel))


def _note(tags: list[int], ack: MethodArrived) -> None:
    """Add what one acknowledgement confirms: its number, or everything open up to it; raises Unmet for a refusal."""
    tag = ack["delivery_tag"]
    if ack.name == "basic.nack":
        raise Unmet("basic.ack", f"basic.nack of message {tag}")
    # Tag zero with multiple means everything so far. A tag that confirms nothing new is
    # kept, as it is one too many.
    if ack["multiple"]:
        top = max([0, *tags]) if tag == 0 else tag
        tags += [t for t in range(1, top + 1) if t not in tags] or [tag]
    else:
        tags.append(tag)
