"""A small broker on python-qpid-proton's engine: queues in memory, run by an interpreter that has proton.

Knows: proton, and what a queue is. Must not know: anything else of this project, nor what is inside a message: it
hands on the octets that came, so that one which cannot be read harms no one.

Addresses that begin with the given prefix are queues and are there when a link asks for them; others are not. Proton
itself decides how it answers protocol errors.
"""

from __future__ import annotations

import itertools
import sys
import traceback
import uuid
from collections import deque
from typing import Any

import proton
from proton import Condition, Delivery, Endpoint, Event, Handler, Link, Receiver, Sender, Terminus
from proton.reactor import Container

HOST = "127.0.0.1"
READY = "queues are served"
CREDIT = 100
MAX_FRAME_OCTETS = 65536
CHANNEL_MAX = 255
TAKEN_BACK = (Delivery.RELEASED, Delivery.MODIFIED)
FINAL = (Delivery.ACCEPTED, Delivery.REJECTED, *TAKEN_BACK)


class Queue:
    """Messages in order, and the links that take turns at them."""

    def __init__(self) -> None:
        self.messages: deque[bytes] = deque()
        self.consumers: deque[Sender] = deque()

    def pump(self) -> None:
        """Sends as long as there is a message and a link that may have it."""
        while self.messages and (link := self._next()) is not None:
            _send(link, self.messages.popleft())

    def _next(self) -> Sender | None:
        for _ in range(len(self.consumers)):
            self.consumers.rotate(-1)
            if self.consumers[-1].credit > 0:
                return self.consumers[-1]
        return None

    def suspend(self, link: Sender) -> None:
        """Sends nothing more on the link."""
        if link in self.consumers:
            self.consumers.remove(link)

    def leave(self, link: Sender) -> None:
        """Takes back what the link did not settle, in the order of sending."""
        self.suspend(link)
        self.messages.extendleft(message for _, message in reversed(link.sent.values()))
        link.sent.clear()
        self.pump()


def _send(link: Sender, message: bytes) -> None:
    tag = str(next(link.tags))
    delivery = link.delivery(tag)
    link.stream(message)
    link.advance()
    if link.snd_settle_mode == Link.SND_SETTLED:
        delivery.settle()
    else:
        link.sent[tag] = (delivery, message)


class Broker:
    """What is done at each event of the engine."""

    def __init__(self, prefix: str, port: int) -> None:
        self.prefix = prefix
        self.port = port
        self.queues: dict[str, Queue] = {}
        self.links: dict[tuple[str, bool, str], Link] = {}

    def react(self, name: str, event: Event) -> None:
        """Does what is to be done at an event of that name, which may be nothing."""
        method = getattr(self, f"_{name}", None)
        if method is not None:
            method(event)

    def _on_reactor_init(self, event: Event) -> None:
        event.container.listen(f"{HOST}:{self.port}")
        print(f"{READY} on port {self.port}", flush=True)

    def _on_connection_bound(self, event: Event) -> None:
        event.transport.max_frame_size = MAX_FRAME_OCTETS
        event.transport.channel_max = CHANNEL_MAX

    def _on_connection_remote_open(self, event: Event) -> None:
        version = ".".join(map(str, proton.VERSION))
        event.connection.container = "amqpspec-qpid-proton"
        event.connection.properties = {"product": "qpid-proton", "version": version}
        event.connection.open()

    def _on_session_remote_open(self, event: Event) -> None:
        event.session.open()

    def _on_link_remote_open(self, event: Event) -> None:
        link = event.link
        link.snd_settle_mode = link.remote_snd_settle_mode
        link.rcv_settle_mode = link.remote_rcv_settle_mode
        link.queue, link.suspended, link.stolen = None, False, False
        if link.is_sender:
            link.tags, link.sent = itertools.count(), {}
        else:
            link.received = b""
        self._attach(link)

    def _attach(self, link: Link) -> None:
        asked = link.remote_source if link.is_sender else link.remote_target
        address = f"{self.prefix}{uuid.uuid4()}" if asked.dynamic else asked.address
        if asked.type == Terminus.COORDINATOR:
            _refuse(link, "amqp:not-implemented", "there are no transactions")
        elif asked.type == Terminus.UNSPECIFIED:
            _refuse(link, "amqp:invalid-field", "no source or target, or one of a type that is not known")
        elif not address or not address.startswith(self.prefix):
            _refuse(link, "amqp:not-found", f"no node {address!r}, only {self.prefix}*")
        else:
            _settle_termini(link, address, dynamic=asked.dynamic)
            self._name(link)
            link.queue = self.queues.setdefault(address, Queue())
            link.open()
            _begin(link)

    def _name(self, link: Link) -> None:
        """One link of a name and direction for a container: who comes later has it, and an earlier one is stolen."""
        link.key = (link.connection.remote_container, link.is_sender, link.name)
        earlier = self.links.get(link.key)
        if earlier is not None:
            self._leave(earlier)
            if not earlier.suspended:
                earlier.condition = Condition("amqp:link:stolen", "attached elsewhere")
                earlier.stolen = True
                earlier.close()
        self.links[link.key] = link

    def _on_link_flow(self, event: Event) -> None:
        link = event.link
        if link.stolen and link.is_receiver:  # the engine has events of this kind for its own transfers, too
            _errant(link)
        elif link.is_sender and link.queue is not None:
            link.queue.pump()
            if link.drain_mode and link.credit and _lives(link):
                link.drained()

    def _on_delivery(self, event: Event) -> None:
        delivery = event.delivery
        if delivery.link.stolen:
            _errant(delivery.link)
        elif delivery.link.queue is None:
            delivery.settle()
        elif delivery.link.is_sender:
            self._settled(delivery.link, delivery)
        elif delivery.readable:
            self._received(delivery.link, delivery)
        elif delivery.settled:
            delivery.settle()

    def _received(self, link: Receiver, delivery: Delivery) -> None:
        if delivery.aborted:
            link.received = b""
            delivery.settle()
            _grant(link, 1)
            return
        link.received += link.recv(delivery.pending) or b"" if delivery.pending else b""
        if delivery.partial:
            return
        message, link.received = link.received, b""
        link.advance()
        delivery.update(Delivery.ACCEPTED)
        if delivery.settled or link.rcv_settle_mode != Link.RCV_SECOND:
            delivery.settle()
        _grant(link, 1)
        link.queue.messages.append(message)
        link.queue.pump()

    def _settled(self, link: Sender, delivery: Delivery) -> None:
        state = delivery.remote_state
        if delivery.tag not in link.sent or not (delivery.settled or state in FINAL):
            return
        _, message = link.sent.pop(delivery.tag)
        lost = state in (Delivery.ACCEPTED, Delivery.REJECTED) or delivery.remote.undeliverable
        delivery.update(state if state in FINAL else Delivery.RELEASED)
        delivery.settle()
        if not lost:
            link.queue.messages.appendleft(message)
        link.queue.pump()

    def _on_link_remote_detach(self, event: Event) -> None:
        """Our termini last as long as their session does: what is unsettled stays so."""
        link = event.link
        if link.queue is not None and link.is_sender:
            link.queue.suspend(link)
        link.suspended = True
        link.detach()

    def _on_link_remote_close(self, event: Event) -> None:
        self._leave(event.link)
        event.link.close()

    def _on_session_remote_close(self, event: Event) -> None:
        self._leave_all(event.connection, event.session)
        event.session.close()

    def _on_connection_remote_close(self, event: Event) -> None:
        self._leave_all(event.connection)
        event.connection.close()

    def _on_transport_closed(self, event: Event) -> None:
        self._leave_all(event.connection)

    def _leave_all(self, connection: proton.Connection, session: proton.Session | None = None) -> None:
        link = connection.link_head(0)
        while link is not None:
            if session is None or link.session == session:
                self._leave(link)
            link = link.next(0)

    def _leave(self, link: Link) -> None:
        queue, link.queue = getattr(link, "queue", None), None
        if queue is not None:
            del self.links[link.key]
        if queue is not None and link.is_sender:
            queue.leave(link)


def _settle_termini(link: Link, address: str, *, dynamic: bool) -> None:
    """Theirs as they said, ours with the address alone: what was asked of it beyond that is not promised."""
    if link.is_sender:
        link.target.copy(link.remote_target)
    else:
        link.source.copy(link.remote_source)
    ours = link.source if link.is_sender else link.target
    ours.address, ours.dynamic = address, dynamic


def _begin(link: Link) -> None:
    if link.is_sender:
        link.queue.consumers.append(link)
        link.queue.pump()
    else:
        _grant(link, CREDIT)


def _grant(link: Receiver, credit: int) -> None:
    """More credit, unless the partner has ended the session: then the engine writes a flow that lacks a field."""
    if _lives(link):
        link.flow(credit)


def _lives(link: Link) -> bool:
    return bool(link.session.state & Endpoint.REMOTE_ACTIVE)


def _refuse(link: Link, condition: str, why: str) -> None:
    """An attach without a terminus of the broker, and the detach that says why."""
    (link.source if link.is_sender else link.target).type = Terminus.UNSPECIFIED
    link.open()
    link.condition = Condition(condition, why)
    link.close()


def _errant(link: Link) -> None:
    """Input for a link that was detached with an error ends its session."""
    link.session.condition = Condition("amqp:session:errant-link", f"link {link.name!r} was stolen")
    link.session.close()


class Guard(Handler):  # type: ignore[misc]  # proton has no types
    """Hands each event to the broker; a mistake there ends one connection, not the process."""

    def __init__(self, broker: Broker) -> None:
        super().__init__()
        self._broker = broker

    def on_unhandled(self, method: str, *arguments: Any) -> None:
        """Called by proton for each event that has no method of its own here."""
        event = arguments[0]
        try:
            self._broker.react(method, event)
        except Exception as error:
            traceback.print_exc()
            if event.connection is None:
                raise SystemExit(1) from error
            unreadable = isinstance(error, UnicodeDecodeError)
            condition = "amqp:decode-error" if unreadable else "amqp:internal-error"
            event.connection.condition = Condition(condition, f"{type(error).__name__}: {error}")
            event.connection.close()


if __name__ == "__main__":
    Container(Guard(Broker(sys.argv[1], int(sys.argv[2])))).run()
