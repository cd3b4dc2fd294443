"""Verbs about messages: published, consumed, fetched, settled, held back by a transaction.

Knows: desks and books. Must not know: connections' ends, races.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.fuzz.methods.sequences.books import CONFIRM, PLAIN, TX, Channel, Consumer, Queue
from amqpspec.fuzz.methods.sequences.desk import EXCHANGE
from amqpspec.fuzz.methods.sequences.desk import MethodsDesk as Desk
from amqpspec.fuzz.methods.sequences.entities import BOUND_KEY, channel_ended
from amqpspec.fuzz.methods.sequences.places import channels, is_guarded, places
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.world import Args, Table, Verb

_COUNTS = (1, 2, 3)
_NOT_ALLOWED = 403

# --- publishing


def _publishable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, q.name, n) for n in _COUNTS for c, q in places(desk)]


def _publish(desk: Desk, link: int, number: int, name: str, count: int) -> None:
    channel, queue = desk.channel(link, number), desk.queue(name)
    for _ in range(count):
        desk.publish(channel, [queue], name)
    desk.arrived(channel, [queue])


def _routable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk, PLAIN, CONFIRM)]


def _route(desk: Desk, link: int, number: int) -> None:
    """One message to all queues that are bound, or to none."""
    channel = desk.channel(link, number)
    queues = [queue for queue in desk.books.queues.values() if queue.bound]
    desk.publish(channel, queues, BOUND_KEY, EXCHANGE)
    desk.arrived(channel, [queue for queue in queues if queue.owner in (None, link)])


def _transacted(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk, TX)]


def _commit(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    desk.talk.send(link, "tx.commit", number)
    # What is committed may be delivered before commit-ok.
    desk.books.commit(channel)
    desk.talk.answer(link, "tx.commit", number)
    desk.settle()
    desk.check(desk.books.queues.values())


def _roll_back(desk: Desk, link: int, number: int) -> None:
    channel = desk.channel(link, number)
    desk.ask(channel, "tx.rollback")
    desk.books.roll_back(channel)
    desk.check(desk.books.queues.values())


# --- consuming


def _consumable(desk: Desk) -> Iterable[Args]:
    """Without acknowledgement last; next to an exclusive consumer there is no other."""
    for no_ack in (0, 1):
        for channel, queue in _open_to_all(desk):
            yield channel.link, channel.number, queue.name, no_ack


def _consume(desk: Desk, link: int, number: int, name: str, no_ack: int) -> None:
    _start(desk, desk.channel(link, number), desk.queue(name), no_ack=bool(no_ack))


def _unconsumed(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, q.name) for c, q in places(desk) if not any(desk.books.consumers_of(q))]


def _consume_alone(desk: Desk, link: int, number: int, name: str) -> None:
    _start(desk, desk.channel(link, number), desk.queue(name), no_ack=False, exclusive=True)


def _start(desk: Desk, channel: Channel, queue: Queue, *, no_ack: bool, exclusive: bool = False) -> None:
    desk.tags += 1
    tag = f"t{desk.tags}"
    desk.ask(
        channel,
        "basic.consume",
        queue=desk.real(queue.name),
        consumer_tag=tag,
        no_ack=no_ack,
        exclusive=exclusive,
    )
    channel.consumers[tag] = Consumer(tag, queue, no_ack, exclusive)


def _guarded(desk: Desk) -> Iterable[Args]:
    """Where a consumer keeps others away."""
    for channel, queue in places(desk):
        if is_guarded(desk, queue):
            yield channel.link, channel.number, queue.name


def _consume_beside(desk: Desk, link: int, number: int, name: str) -> None:
    channel = desk.channel(link, number)
    channel.ending = True
    desk.talk.send(link, "basic.consume", number, queue=desk.real(name))
    arrival = desk.talk.expect(link, number, "basic.consume-ok", "channel.close")
    if arrival.name == "basic.consume-ok":
        why = "a consumer beside an exclusive one"
        raise Violation(f"not refused: {why}", f"channel.close {_NOT_ALLOWED}", arrival.name)
    channel_ended(desk, channel)


def consumers(desk: Desk) -> Iterable[tuple[Channel, Consumer]]:
    """All consumers."""
    return [(c, consumer) for c in channels(desk) for consumer in c.consumers.values()]


def _cancellable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, consumer.tag) for c, consumer in consumers(desk)]


def _cancel(desk: Desk, link: int, number: int, tag: str) -> None:
    channel = desk.channel(link, number)
    desk.ask(channel, "basic.cancel", consumer_tag=tag)
    del channel.consumers[tag]


def _fetchable(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, q.name, no_ack) for no_ack in (0, 1) for c, q in _open_to_all(desk)]


def _open_to_all(desk: Desk) -> list[tuple[Channel, Queue]]:
    return [(channel, queue) for channel, queue in places(desk) if not is_guarded(desk, queue)]


def _get(desk: Desk, link: int, number: int, name: str, no_ack: int) -> None:
    channel, queue = desk.channel(link, number), desk.queue(name)
    desk.talk.send(link, "basic.get", number, queue=desk.real(name), no_ack=bool(no_ack))
    first = next((copy for copy in queue.certain if channel not in copy.refused), None)
    if not fetched(desk, channel, queue, no_ack=bool(no_ack)) and first is not None:
        raise Violation("get finds nothing", f"m{first.number}", "basic.get-empty")


def fetched(desk: Desk, channel: Channel, queue: Queue, *, no_ack: bool, among: int = 1) -> bool:
    """Take the answer to a get; returns whether it was a message, one of the first few."""
    got = desk.talk.answer(channel.link, "basic.get", channel.number)
    if got.name == "basic.get-empty":
        return False
    tag, again = int(got["delivery_tag"]), bool(got["redelivered"])
    copy = desk.books.got(queue, got.body, redelivered=again, among=among)
    desk.books.hold(channel, tag, copy, no_ack=no_ack)
    return True


# --- settling


def _settleable(desk: Desk) -> Iterable[Args]:
    return [
        (c.link, c.number, tag, multiple)
        for multiple in (0, 1)
        for c in channels(desk)
        for tag in c.open_tags
    ]


def _ack(desk: Desk, link: int, number: int, tag: int, multiple: int) -> None:
    channel = desk.channel(link, number)
    tags = channel.upto(tag, multiple=bool(multiple))
    desk.talk.send(link, "basic.ack", number, delivery_tag=tag, multiple=bool(multiple))
    _settled(desk, channel, tags, requeue=False, how="acknowledged")


def _givable(desk: Desk) -> Iterable[Args]:
    """Not in transactions: the specification does not say whether a rejection belongs to one."""
    return [
        (c.link, c.number, tag, multiple, requeue)
        for multiple in (0, 1)
        for requeue in (1, 0)
        for c in channels(desk, PLAIN, CONFIRM)
        for tag in c.open_tags
    ]


def _nack(desk: Desk, link: int, number: int, tag: int, multiple: int, requeue: int) -> None:
    channel = desk.channel(link, number)
    tags = channel.upto(tag, multiple=bool(multiple))
    desk.talk.send(
        link, "basic.nack", number, delivery_tag=tag, multiple=bool(multiple), requeue=bool(requeue)
    )
    _settled(desk, channel, tags, requeue=bool(requeue), how="rejected")


def _rejectable(desk: Desk) -> Iterable[Args]:
    return [(*args[:3], args[4]) for args in _givable(desk) if not args[3]]


def _reject(desk: Desk, link: int, number: int, tag: int, requeue: int) -> None:
    channel = desk.channel(link, number)
    desk.talk.send(link, "basic.reject", number, delivery_tag=tag, requeue=bool(requeue))
    _settled(desk, channel, [tag], requeue=bool(requeue), how="rejected")


def _settled(desk: Desk, channel: Channel, tags: list[int], *, requeue: bool, how: str) -> None:
    queues = {id(channel.unacked[tag].queue): channel.unacked[tag].queue for tag in tags}.values()
    # What is given back goes to consumers at once, and to those of this channel, too.
    desk.books.settle(channel, tags, requeue=requeue, how=how)
    round_trip(desk, channel)
    desk.settle()
    desk.check(queues)


def round_trip(desk: Desk, channel: Channel) -> None:
    """What was sent on the channel has been done, or its refusal is seen."""
    desk.ask(channel, "basic.qos", prefetch_count=0)


VERBS: Table[Desk] = {
    "publish": Verb(_publishable, _publish, 8),
    "route": Verb(_routable, _route),
    "consume": Verb(_consumable, _consume, 3),
    "consume-alone": Verb(_unconsumed, _consume_alone),
    "consume-beside": Verb(_guarded, _consume_beside),
    "cancel": Verb(_cancellable, _cancel),
    "get": Verb(_fetchable, _get, 6),
    "ack": Verb(_settleable, _ack, 4),
    "nack": Verb(_givable, _nack, 3),
    "reject": Verb(_rejectable, _reject),
    "commit": Verb(_transacted, _commit, 3),
    "rollback": Verb(_transacted, _roll_back, 3),
}
