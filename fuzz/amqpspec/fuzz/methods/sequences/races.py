"""Verbs that do two things at once, on two channels or just before an end: several outcomes are right.

Knows: desks and books, what a race leaves open. Must not know: how outcomes are observed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amqpspec.fuzz.methods.sequences.books import PLAIN, TX, Channel, Consumer, Copy, Queue
from amqpspec.fuzz.methods.sequences.desk import MethodsDesk as Desk
from amqpspec.fuzz.methods.sequences.entities import channel_ended, ended
from amqpspec.fuzz.methods.sequences.messages import consumers, fetched, round_trip
from amqpspec.fuzz.methods.sequences.places import channels, is_guarded, usable
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.world import Args, Table, Verb

_BURST = 3


def _beside(desk: Desk) -> Iterable[tuple[Channel, Consumer, Channel]]:
    """Each consumer with each channel of another connection that can publish to its queue."""
    for channel, consumer in consumers(desk):
        for other in channels(desk, PLAIN):
            if other.link != channel.link and consumer.queue in usable(desk, other.link):
                yield channel, consumer, other


def _consumers_beside(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number, consumer.tag, o.link, o.number) for c, consumer, o in _beside(desk)]


def _burst(desk: Desk, other: Channel, queue: Queue) -> list[Copy]:
    copies = [desk.publish(other, [queue], queue.name) for _ in range(_BURST)]
    return [copy for copy in copies if copy is not None]


def _cancel(desk: Desk, link: int, number: int, tag: str, link2: int, number2: int) -> None:
    """Messages arrive while a consumer is cancelled: those delivered before cancel-ok are its own."""
    channel, other = desk.channel(link, number), desk.channel(link2, number2)
    queue = channel.consumers[tag].queue
    desk.talk.send(link, "basic.cancel", number, consumer_tag=tag)
    _burst(desk, other, queue)
    desk.talk.answer(link, "basic.cancel", number)
    del channel.consumers[tag]
    desk.arrived(other, [queue])
    desk.settle()
    desk.check([queue])


def _close(desk: Desk, link: int, number: int, tag: str, link2: int, number2: int) -> None:
    """Messages arrive while a channel is closed: only the target knows whether they were in flight to it."""
    channel, other = desk.channel(link, number), desk.channel(link2, number2)
    consumer, channel.ending = channel.consumers[tag], True
    desk.talk.send(link, "channel.close", number, reply_code=200, reply_text="done")
    copies = _burst(desk, other, consumer.queue)
    desk.talk.answer(link, "channel.close", number)
    _let_go([channel], consumer.queue, copies)
    _ended_beside(desk, other, lambda: channel_ended(desk, channel))


def _reset(desk: Desk, link: int, number: int, tag: str, link2: int, number2: int) -> None:
    """Messages arrive while a connection is reset."""
    channel, other = desk.channel(link, number), desk.channel(link2, number2)
    consumer = channel.consumers[tag]
    copies = _burst(desk, other, consumer.queue)
    desk.talk.reset(link)
    _let_go([c for c in channels(desk) if c.link == link], consumer.queue, copies)
    _ended_beside(desk, other, lambda: ended(desk, link))


def _let_go(held: list[Channel], queue: Queue, copies: list[Copy]) -> None:
    """Copies that may have been in flight to channels: lost if a consumer there does not acknowledge."""
    taken = [copy for channel in held for copy in channel.unacked.values()]
    lossy = any(c.no_ack and c.queue is queue for channel in held for c in channel.consumers.values())
    for copy in copies:
        if copy not in taken:
            copy.seen, copy.fresh, copy.unsure = None, False, lossy


def _ended_beside(desk: Desk, other: Channel, end: Callable[[], None]) -> None:
    # The publications first: they are in order on their channel, whatever else ends.
    round_trip(desk, other)
    end()


def _both(desk: Desk) -> Iterable[Args]:
    """Two channels of two connections, and a queue that both may use."""
    for one in channels(desk):
        for other in channels(desk):
            if one.link < other.link:
                for queue in usable(desk, one.link):
                    if queue in usable(desk, other.link) and not is_guarded(desk, queue):
                        yield one.link, one.number, other.link, other.number, queue.name


def _get(desk: Desk, link: int, number: int, link2: int, number2: int, name: str) -> None:
    """Two fetch at once: no message is given to both, and none is kept back."""
    queue, both = desk.queue(name), (desk.channel(link, number), desk.channel(link2, number2))
    owed = min(len(both), sum(not copy.refused for copy in queue.certain))
    for channel in both:
        desk.talk.send(channel.link, "basic.get", channel.number, queue=desk.real(name))
    found = sum(fetched(desk, channel, queue, no_ack=False, among=len(both)) for channel in both)
    if found < owed:
        raise Violation("get finds nothing", f"{owed} messages for two that fetch", str(found))


def _holding(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk, PLAIN) if c.unacked]


def _ack_reset(desk: Desk, link: int, number: int) -> None:
    """All is acknowledged, and the connection reset at once: each message is acknowledged or given back."""
    channel = desk.channel(link, number)
    desk.talk.send(link, "basic.ack", number, delivery_tag=0, multiple=True)
    for copy in channel.unacked.values():
        copy.unsure = True
    desk.talk.reset(link)
    ended(desk, link)


def _publishing(desk: Desk) -> Iterable[Args]:
    return [
        (c.link, c.number, q.name)
        for c in channels(desk, PLAIN)
        for q in usable(desk, c.link)
        if q.owner is None
    ]


def _publish_reset(desk: Desk, link: int, number: int, name: str) -> None:
    """Messages are published, and the connection reset at once: some of them arrive, or none."""
    for copy in _burst(desk, desk.channel(link, number), desk.queue(name)):
        copy.unsure, copy.fresh = True, False
    desk.talk.reset(link)
    ended(desk, link)


def _transacted(desk: Desk) -> Iterable[Args]:
    return [(c.link, c.number) for c in channels(desk, TX) if c.published or c.acked]


def _commit_reset(desk: Desk, link: int, number: int) -> None:
    """A transaction is committed, and the connection reset at once: what it holds happens, or does not."""
    channel = desk.channel(link, number)
    desk.talk.send(link, "tx.commit", number)
    for tag in channel.acked:
        channel.unacked[tag].unsure = True
    published, channel.published = channel.published, []
    for copy in published:
        copy.unsure, copy.fresh = True, False
        desk.books.enqueue_committed(copy)
    desk.talk.reset(link)
    ended(desk, link)


VERBS: Table[Desk] = {
    "cancel-beside-publish": Verb(_consumers_beside, _cancel),
    "close-beside-publish": Verb(_consumers_beside, _close),
    "reset-beside-publish": Verb(_consumers_beside, _reset),
    "get-beside-get": Verb(_both, _get),
    "ack-then-reset": Verb(_holding, _ack_reset),
    "publish-then-reset": Verb(_publishing, _publish_reset),
    "commit-then-reset": Verb(_transacted, _commit_reset),
}
