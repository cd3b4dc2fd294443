"""Common parts of the classes file and stream: consumers and their tags, windows, publishing, returns.

Knows: the rules that both classes share, by the name of the class. Must not know: how a content reaches a client.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.owning import check_owner
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import taker_of
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry, Message, Queue, Routed
from amqpspec.reference.model.deliveries import Deliveries, Window
from amqpspec.wire.amqp_0_10.instructions import decode_header
from amqpspec.wire.amqp_0_10.values import Map

_NO_ROUTE, _NO_CONSUMERS = 312, 313
_RULES: Mapping[str, Mapping[str, str]] = {
    "file": {
        "tag": "file/consume/consumer-tag/not-empty-consumer-tag",
        "second": "file/consume/consumer-tag/not-existing-consumer/refused",
        "in-use": "file/consume/exclusive/in-use",
        "queue": "file/consume/queue/queue-exists-if-empty",
        "exchange": "file/publish/exchange/must-exist",
    },
    "stream": {
        "tag": "stream/consume/consumer-tag/not-empty-consumer-tag",
        "second": "stream/consume/consumer-tag/not-existing-consumer/refused",
        "in-use": "stream/consume/exclusive/in-use",
        "queue": "stream/consume/queue/queue-exists-if-empty",
        "exchange": "stream/publish/exchange/must-exist",
    },
}
_WINDOWS: WeakKeyDictionary[object, dict[str, Window]] = WeakKeyDictionary()
"""The windows that qos sets for a whole connection, by class."""


@dataclass(frozen=True, slots=True)
class Content(Message):
    """A content of one of the two classes; only consumers of that class get it."""

    kind: str = ""


class Feed:
    """One session's consumers of one class: what the queues of the model see of it.

    ``automatic`` are the tags of consumers that acknowledge nothing.
    """

    kind: ClassVar[str]

    def __init__(self, session: Session) -> None:
        self.session, self.key, kind = session, session.key, self.kind
        self.owner: object = session.carrier
        """A consumer with no-local does not receive messages of its own connection."""
        self.consumers: dict[str, Consumer] = {}
        self.automatic: set[str] = set()
        shared = _WINDOWS.setdefault(session.carrier, {}).setdefault(kind, Window(session.core.on))
        self.deliveries = Deliveries(session.core.on, shared)
        self.shared = shared
        session.feeds.append(self)
        session.at_end.append(self.release)

    @property
    def flowing(self) -> bool:
        """Whether anything can go out just now."""
        return self.session.carrier is not None

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether it is a content of this class, and the socket and the windows allow one more message."""
        carrier = self.session.carrier
        if getattr(message, "kind", "") != self.kind or carrier is None or carrier.congested:
            return False
        return consumer.tag in self.automatic or self.deliveries.admits(message.size_octets)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a content, or announce it."""
        raise NotImplementedError

    def drop(self, consumer: Consumer) -> None:
        """A consumer is cancelled."""

    def cancelled(self, consumer: Consumer) -> None:
        """The queue of a consumer is gone."""
        self.consumers.pop(consumer.tag, None)

    def queues(self) -> list[Queue]:
        """The queues of its consumers."""
        return [consumer.queue for consumer in self.consumers.values()]

    def release(self) -> None:
        """The session ends: leave the queues, then return what was not acknowledged."""
        consumers, self.consumers = list(self.consumers.values()), {}
        if not self.session.faulty("content-consumers-outlive-sessions"):
            for consumer in consumers:
                self.session.vhost.remove_consumer(consumer)
        left = self.deliveries.release_all()
        for delivery in left:
            delivery.queue.requeue([delivery.entry])
        for queue in {id(delivery.queue): delivery.queue for delivery in left}.values():
            queue.dispatch()


FEEDS: dict[str, type[Feed]] = {}
"""The consumers of each class of contents."""


def _feed_of(session: Session, order: Order) -> Feed:
    """The consumers of a command's class; made on first use."""
    made = FEEDS[order.row.class_name]
    return next((feed for feed in session.feeds if isinstance(feed, made)), None) or made(session)


@executes("file.qos")
@executes("stream.qos")
def qos(session: Session, order: Order) -> None:
    """Set the window of the session, or of the connection; the rate of streams is ignored (ignore-prefetch)."""
    feed = _feed_of(session, order)
    whole = order["global"] and not session.faulty("global-window-means-session")
    window = feed.shared if whole or session.faulty("every-window-is-global") else feed.deliveries.window
    if not (feed.consumers and session.faulty("second-window-without-effect")):
        window.max_count, window.max_octets = order["prefetch_count"] or 0, order["prefetch_size"] or 0
    session.command(f"{feed.kind}.qos-ok")
    for queue in feed.queues():
        queue.wake()


@executes("file.consume")
@executes("stream.consume")
def consume(session: Session, order: Order) -> None:
    """Begin a consumer."""
    feed = _feed_of(session, order)
    tag, kind = order["consumer_tag"] or "", feed.kind
    if not tag:
        session.refuse(_RULES[kind]["tag"], "a consumer without a tag", "consumer_tag")
    if tag in feed.consumers:
        session.refuse(_RULES[kind]["second"], f"tag {tag!r} is in use", "consumer_tag")
    queue = _queue(session, kind, order)
    if queue is not None:
        _join(session, feed, order, queue, tag)
    if not order["nowait"] or session.faulty("nowait-answered"):
        session.command(f"{kind}.consume-ok", consumer_tag=tag)
    if queue is not None:
        queue.wake()


def _join(session: Session, feed: Feed, order: Order, queue: Queue, tag: str) -> None:
    others = bool(queue.consumers)
    if any(c.exclusive for c in queue.consumers) or (order["exclusive"] and others):
        session.refuse(_RULES[feed.kind]["in-use"], f"{queue.name!r} has consumers", "exclusive")
    if len(queue.consumers) >= 15 and session.faulty("fifteen-content-consumers-at-most"):
        session.core.refuse("file/consume/exclusive/in-use", "too many consumers")
    no_ack = order["no_ack"] and not session.faulty("every-file-waits-for-an-ack")
    if feed.kind == "file" and (no_ack or session.faulty("no-file-waits-for-an-ack")):
        feed.automatic.add(tag)
    consumer = Consumer(
        tag,
        queue,
        feed,
        no_ack=feed.kind == "stream" and not session.faulty("packets-stay-in-the-books"),
        no_local=bool(order["no_local"]),
        exclusive=bool(order["exclusive"]),
        choosy=True,
    )
    feed.consumers[tag] = consumer
    session.vhost.add_consumer(consumer)


def _queue(session: Session, kind: str, order: Order) -> Queue | None:
    name = order["queue"] or ""
    queue = session.vhost.queues.get(name)
    if not name:
        session.refuse(_RULES[kind]["queue"], "no name of a queue", "queue")
    elif queue is None:
        session.refuse("execution/error-code/not-found", f"no queue {name!r}", "queue")
    else:
        check_owner(session, queue)
    return queue


@executes("file.cancel")
@executes("stream.cancel")
def cancel(session: Session, order: Order) -> None:
    """End a consumer; an unknown one is ignored."""
    feed = _feed_of(session, order)
    consumer = feed.consumers.get(order["consumer_tag"] or "")
    if consumer is None or session.faulty("cancelled-content-consumer-goes-on"):
        return
    del feed.consumers[consumer.tag]
    feed.automatic.discard(consumer.tag)
    session.vhost.remove_consumer(consumer)
    if session.faulty("cancel-gives-files-back"):
        for delivery in [d for d in feed.deliveries.outstanding.values() if d.consumer is consumer]:
            feed.deliveries.release(delivery)
            delivery.queue.requeue([delivery.entry])
    feed.drop(consumer)


# --- publishing


def content_of(
    session: Session, order: Order, kind: str, header: bytes, body: bytes, properties: Any
) -> Content:
    """What is published: to be routed by its exchange and key, kept by its class."""
    headers = properties.get("headers")
    return Content(
        order["exchange"] or "",
        order["routing_key"] or "",
        header,
        body,
        properties.get("priority", 0),
        kind == "file" and not session.faulty("files-are-transient"),
        headers.plain() if isinstance(headers, Map) else {},
        session.carrier,
        kind=kind,
    )


def check_exchange(session: Session, order: Order, kind: str) -> None:
    """Check that the exchange of a publish exists."""
    name = order["exchange"] or ""
    blank = not name and session.faulty("blank-exchange-takes-no-contents")
    if name not in session.vhost.exchanges or blank:
        session.refuse(_RULES[kind]["exchange"], f"no exchange {name!r}", "exchange")


def publish(session: Session, order: Order, content: Content) -> None:
    """Route a content, now or when the transaction commits; return it if that was requested."""
    session.core.room.take(content.size_octets)
    work = taker_of(session).work
    if work is not None and content.kind == "file" and not session.faulty("files-are-not-transacted"):
        work.publishes.append(lambda: _route(session, order, content))
    else:
        _route(session, order, content)


def _route(session: Session, order: Order, content: Content) -> None:
    exchange = session.vhost.exchanges.get(content.exchange)
    queue = session.vhost.queues.get(content.routing_key)
    if exchange is None or (queue and queue.ready_count and session.faulty("first-class-keeps-others-out")):
        return
    faulty, immediate = session.faulty, bool(order["immediate"])
    outcome = session.vhost.publish(
        exchange, content, immediate=immediate or faulty("every-content-is-immediate")
    )
    if outcome is Routed.UNROUTABLE:
        wanted = order["mandatory"] and not faulty("mandatory-means-nothing")
        if wanted or faulty("every-content-is-mandatory"):
            _send_back(session, content, _NO_ROUTE, "no queue is bound for it")
    elif outcome is Routed.NO_CONSUMERS and immediate:
        _send_back(session, content, _NO_CONSUMERS, "no consumer can take it at once")


def _send_back(session: Session, content: Content, code: int, text: str) -> None:
    if session.faulty("returns-tell-the-wrong-code"):
        code = _NO_ROUTE + _NO_CONSUMERS - code
    session.command(
        f"{content.kind}.return",
        header=decode_header(content.header),
        body=b"" if session.faulty("returned-without-its-body") else content.body,
        reply_code=code,
        reply_text=text,
        exchange=content.exchange,
        routing_key=content.routing_key,
    )


FAULTS = fault_table("""
first-class-keeps-others-out: a queue that contains a message accepts neither files nor streams [queue/any-content]
content-consumers-outlive-sessions: consumers survive the end of their session
    [file/consume/lifetime stream/consume/lifetime]
global-window-means-session: qos with global applies to its session only
    [file/qos/global/connection stream/qos/global/connection]
every-window-is-global: every qos applies to the whole connection [file/qos/session stream/qos/session]
second-window-without-effect: qos does not apply to existing consumers [file/qos-ok/until-next]
nowait-answered: consume with nowait is answered [file/consume/nowait stream/consume/nowait]
fifteen-content-consumers-at-most: a queue has room for fifteen consumers
    [file/consume/min-consumers stream/consume/min-consumers]
every-file-waits-for-an-ack: no-ack means nothing
    [file/acknowledgement-support file/consume/no-ack file/qos/prefetch-size]
no-file-waits-for-an-ack: a file leaves its queue when it is sent
    [file/acknowledgement-support file/qos/prefetch-count/prefetch-discretion/no-more file/qos/prefetch-count/windows]
packets-stay-in-the-books: a packet returns to its queue when its session ends [stream/acknowledgement-support]
cancelled-content-consumer-goes-on: cancel changes nothing [file/cancel/no-more stream/cancel/tail]
cancel-gives-files-back: files sent to a consumer before its cancel return to the queue [file/cancel/no-more]
files-are-transient: files do not survive a restart [file/reliable-storage]
blank-exchange-takes-no-contents: content cannot be published to the default exchange
    [file/publish/exchange/default stream/publish/exchange/default]
files-are-not-transacted: contents published in a transaction are delivered at once [file/publish/distributed]
mandatory-means-nothing: unroutable mandatory contents are dropped
    [file/publish/mandatory/return stream/publish/mandatory/return
    file/publish/mandatory/implementation stream/publish/mandatory/implementation]
every-content-is-mandatory: every unroutable content is returned
    [file/publish/mandatory/return stream/publish/mandatory/return]
every-content-is-immediate: content without a ready consumer is dropped
    [file/publish/immediate/return stream/publish/immediate/return]
returns-tell-the-wrong-code: returns swap the codes 312 and 313
    [file/publish/mandatory/return stream/publish/mandatory/return
    file/publish/immediate/return stream/publish/immediate/return]
returned-without-its-body: returned content has no body
    [file/publish/mandatory/return stream/publish/mandatory/return
    file/publish/immediate/return stream/publish/immediate/return]
""")
