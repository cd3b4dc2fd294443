"""The file class: staging both ways, publishing what is staged, delivering, acknowledging.

Knows: the order open, open-ok, stage, deliver. Must not know: how queues pick a consumer.
"""

from __future__ import annotations

from functools import partial

from amqpspec.reference.amqp_0_10 import contents
from amqpspec.reference.amqp_0_10.contents import FEEDS, Feed
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.staging import Outgoing, Staged, Stages, area_of, begin
from amqpspec.reference.amqp_0_10.taking import taker_of
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry
from amqpspec.reference.model.deliveries import Delivery
from amqpspec.wire.amqp_0_10.instructions import decode_header

_PROPERTIES = "file.file-properties"


class Files(Feed):
    """One session's consumers of files, and what it is staging."""

    kind = "file"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.stages = Stages()

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Announce a file to the client, and send it when the client is ready."""
        queue = consumer.queue
        automatic = consumer.tag in self.automatic
        tag = self.deliveries.hold(entry, queue, None if automatic else consumer)
        identifier = f"{queue.name}.{entry.position}"
        if self.session.faulty("identifiers-made-anew"):
            identifier += f".{entry.deliveries}"
        out = Outgoing(tag, consumer, entry, redelivered, identifier, automatic=automatic)
        if self.session.faulty("files-delivered-unstaged"):
            self.send(out)
            return
        self.stages.outgoing.append(out)
        size_octets = len(entry.message.body) + self.session.faulty("content-size-of-one-more")
        self.session.command("file.open", identifier=identifier, content_size=size_octets)

    def send(self, out: Outgoing, staged: int | None = None) -> None:
        """Send the missing part of a file, and deliver it; ``staged`` None: it is not staged."""
        session, message = self.session, out.entry.message
        if staged is not None:
            start = 0 if session.faulty("staging-begins-anew") else staged
            body = message.body[start:]
            session.command("file.stage", header=decode_header(message.header), body=body)
        if out.dropped:
            return
        session.command(
            "file.deliver",
            consumer_tag=out.consumer.tag,
            delivery_tag=out.tag,
            redelivered=out.redelivered,
            exchange=message.exchange,
            routing_key=message.routing_key,
            identifier=out.identifier,
        )
        if out.automatic:
            settle(self, [self.deliveries.outstanding[out.tag]])

    def drop(self, consumer: Consumer) -> None:
        """A consumer is cancelled: its unsent files return to their queue."""
        for out in self.stages.outgoing:
            if out.consumer is consumer and not out.dropped:
                out.dropped = True
                delivery = self.deliveries.outstanding.get(out.tag)
                if delivery is not None:
                    self.deliveries.release(delivery)
                    delivery.queue.give_back([delivery.entry])


FEEDS["file"] = Files


def files_of(session: Session) -> Files:
    """What a session has to do with files; made on first use."""
    return next((feed for feed in session.feeds if isinstance(feed, Files)), None) or Files(session)


# --- in


@executes("file.open")
def open_(session: Session, order: Order) -> None:
    """A client wants to stage a file."""
    staged = begin(session, order["identifier"] or "", order["content_size"] or 0)
    files_of(session).stages.incoming.append(staged)
    staged_octets = len(staged.body) + session.faulty("one-octet-too-many-staged")
    if not session.faulty("opens-not-answered"):
        session.command("file.open-ok", staged_size=staged_octets)


@executes("file.stage")
def stage(session: Session, order: Order) -> None:
    """A file, or the rest of one; an incomplete file waits for the rest."""
    incoming = files_of(session).stages.incoming
    if not incoming:
        session.core.refuse("execution/error-code/not-found", "a stage without an open")
        return
    staged = incoming.popleft()
    body = staged.body + (order.body or b"")
    if len(body) > staged.size_octets:
        rule = "file/open/content-size/content-size"
        session.refuse(rule, f"{len(body)} octets where {staged.size_octets} were announced")
        return
    staged.body, staged.come = body, True
    staged.header, staged.properties = order.header_octets, order.struct(_PROPERTIES)
    if staged.whole:
        waiting, staged.waiting = staged.waiting, []
        for publish_now in waiting:
            publish_now()


@executes("file.publish")
def publish(session: Session, order: Order) -> None:
    """Publish a file that is staged, or being staged."""
    contents.check_exchange(session, order, "file")
    identifier = order["identifier"] or ""
    key = (session.user.name, identifier)
    staged = area_of(session).get(key)
    if staged is None:
        session.refuse("file/publish/identifier/staged", f"nothing staged as {identifier!r}", "identifier")
    elif staged.whole:
        _publish(session, order, staged)
    elif not session.faulty("early-publishes-dropped"):
        staged.waiting.append(partial(_publish, session, order, staged))


def _publish(session: Session, order: Order, staged: Staged) -> None:
    area_of(session).pop((session.user.name, order["identifier"] or ""), None)
    body = staged.body[:-1] if session.faulty("staged-files-cut") else staged.body
    contents.publish(
        session,
        order,
        contents.content_of(session, order, "file", staged.header, body, staged.properties),
    )


# --- out


@executes("file.open-ok")
def open_ok(session: Session, order: Order) -> None:
    """The client is ready for the file that was announced first."""
    feed = files_of(session)
    if feed.stages.outgoing:
        feed.send(feed.stages.outgoing.popleft(), order["staged_size"] or 0)


@executes("file.ack")
def ack(session: Session, order: Order) -> None:
    """The client acknowledges files."""
    feed = files_of(session)
    found = _named(session, order, bool(order["multiple"]), "file/ack/delivery-tag/session-local")
    work = taker_of(session).work
    if work is not None:
        work.publishes.append(lambda: settle(feed, found))
    else:
        settle(feed, found)


def settle(feed: Files, found: list[Delivery]) -> None:
    """Settle files: remove them from their queues, and open the windows."""
    for delivery in found:
        feed.deliveries.release(delivery)
        delivery.queue.settle(delivery.entry)
    for queue in {id(delivery.queue): delivery.queue for delivery in found}.values():
        queue.wake()


@executes("file.reject")
def reject(session: Session, order: Order) -> None:
    """A file is rejected: it leaves its queue, or waits there for another client."""
    feed = files_of(session)
    back = order["requeue"] and not session.faulty("rejected-files-always-leave")
    for delivery in _named(session, order, False, "file/reject/delivery-tag/session-local"):
        feed.deliveries.release(delivery)
        delivery.entry.refused_by.add(session.key)
        if back or session.faulty("rejected-files-always-return"):
            delivery.queue.give_back([delivery.entry])
        else:
            delivery.queue.discard(delivery.entry)
        delivery.queue.wake()


def _named(session: Session, order: Order, multiple: bool, elsewhere: str) -> list[Delivery]:
    """The deliveries of a tag; an unknown tag belongs to another session, or was never used."""
    tag = order["delivery_tag"] or 0
    deliveries = files_of(session).deliveries
    if not tag and session.faulty("tag-zero-always-means-all"):
        multiple = True
    found = deliveries.select(tag, multiple)
    if found is None:
        # If nothing was delivered at all, the tag belongs to another session.
        handed_out = deliveries.last_tag and order.name == "file.ack"
        rule = "file/ack/multiple/validation/refused" if handed_out else elsewhere
        session.refuse(rule, f"no file under tag {tag}", "delivery_tag")
    return found or []


FAULTS = fault_table("""
identifiers-made-anew: a redelivered file gets another identifier [file/open/identifier/same]
content-size-of-one-more: open announces one octet too many [file/open/content-size/content-size]
files-delivered-unstaged: files are delivered without having been staged [file/deliver/identifier/staged]
staging-begins-anew: every file is sent from its first octet [file/open-ok/staged-size/behavior]
one-octet-too-many-staged: open-ok reports one octet too many [file/open-ok/staged]
opens-not-answered: open is not answered [file/open-ok/staged-size/staging/supported]
early-publishes-dropped: a file published while it is staged is lost [file/publish/identifier/staged]
staged-files-cut: the last octet of a file is lost
    [file/open-ok/staged-size/staging/discard file/open-ok/staged-size/staging/supported]
tag-zero-always-means-all: an ack of tag zero means all files without multiple, too [file/ack/multiple/up-to]
rejected-files-always-leave: requeue is ignored [file/reject/requeue/flag]
rejected-files-always-return: every rejected file returns to its queue [file/reject/requeue/flag]
""")
