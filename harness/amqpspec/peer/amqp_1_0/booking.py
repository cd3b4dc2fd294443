"""Updates the state of sessions, links and deliveries for each performative sent or received.

Knows: the states on both sides. Must not know: octets, waiting, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.arrivals import RECEIVER
from amqpspec.peer.amqp_1_0.books import (
    HANDLE_MAX,
    WINDOW,
    Delivery,
    FrameArrived,
    Link,
    Outgoing,
    Session,
    ahead,
    number,
    serial,
)
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.values import Value

_ROLES = {"sender": "sender", "receiver": "receiver", False: "sender", True: "receiver"}
_TOO_MANY = 100_000
Fields = Mapping[str, Any]


class Books:
    """The state of one connection."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.by_remote_channel: dict[int, Session] = {}
        self.opened: FrameArrived | None = None
        self.closed_by: FrameArrived | None = None
        self.open_sent = self.close_sent = False

    # --- what is sent

    def sent(self, name: str, channel: int, fields: Fields) -> None:
        """Record a sent performative, as far as it is consistent."""
        if name == "open":
            self.open_sent = True
        elif name == "close":
            self.close_sent = True
        elif name == "begin":
            self._begin_sent(channel, fields)
        elif (session := self.sessions.get(channel)) is not None and name in _SENT:
            _SENT[name](session, fields)

    def _begin_sent(self, channel: int, fields: Fields) -> None:
        # A channel carries one session at a time (§2.5.1); the case examines how the target handles a second begin.
        # The first session remains recorded.
        known = self.sessions.get(channel)
        if known is not None and not (known.end_sent or known.ended_by):
            return
        first = serial(_plain_number(fields.get("next_outgoing_id"), 0))
        self.sessions[channel] = Session(
            channel,
            initial_outgoing_id=first,
            next_outgoing_id=first,
            incoming_window=_plain_number(fields.get("incoming_window"), WINDOW),
            outgoing_window=_plain_number(fields.get("outgoing_window"), WINDOW),
        )

    # --- what is received

    def received(self, arrival: FrameArrived) -> FrameArrived:
        """Record a received performative; returns it with its session and link."""
        if arrival.frame.performative is None:
            return arrival
        name = arrival.name
        if name == "open":
            self.opened = self.opened or arrival
        elif name == "close":
            self.closed_by = self.closed_by or arrival
        elif name == "begin":
            return self._begun(arrival)
        elif (session := self.by_remote_channel.get(arrival.wire_channel)) is not None:
            arrival = replace(arrival, channel=session.channel)
            if name == "end":
                session.ended_by = arrival
                del self.by_remote_channel[arrival.wire_channel]
            elif name in _RECEIVED:
                return _RECEIVED[name](session, arrival)
        return arrival

    def _begun(self, arrival: FrameArrived) -> FrameArrived:
        session = self.sessions.get(number(arrival["remote_channel"], -1))
        if session is None:
            return arrival
        arrival = replace(arrival, channel=session.channel)
        if session.begun is None:
            session.begun, session.remote_channel = arrival, arrival.wire_channel
            session.next_incoming_id = number(arrival["next_outgoing_id"], 0)
            session.remote_incoming_window = number(arrival["incoming_window"], 0)
            session.remote_outgoing_window = number(arrival["outgoing_window"], 0)
            session.remote_handle_max = number(arrival["handle_max"], HANDLE_MAX)
        # The target chooses its number for the session (§2.5.1); the same applies to a second answer.
        self.by_remote_channel[arrival.wire_channel] = session
        return arrival


# --- sent, by performative


def _attach_sent(session: Session, fields: Fields) -> None:
    role, handle = _ROLES.get(_plain(fields.get("role"))), _plain_number(fields.get("handle"), -1)
    if role is None or handle < 0:
        return
    # Each side chooses its handle (§2.6.2): this side's handle reveals nothing about the target's.
    link = Link(session, str(_plain(fields.get("name"))), handle, role, _address(fields, role))
    if role == "sender":
        link.delivery_count = _plain_number(fields.get("initial_delivery_count"), 0)
    session.every_link.append(link)
    known = session.links.get(handle)
    if known is None or known.detach_sent:
        session.links[handle] = link


def _flow_sent(session: Session, fields: Fields) -> None:
    session.incoming_window = _plain_number(fields.get("incoming_window"), session.incoming_window)
    link = session.links.get(_plain_number(fields.get("handle"), -1))
    if link is None or link.is_sender:
        return
    link.drain = _plain(fields.get("drain")) is True
    if (credit := _plain_number(fields.get("link_credit"), -1)) >= 0:
        # link-credit counts from the delivery-count that the same flow names, which may lag behind (§2.6.7).
        said = _plain_number(fields.get("delivery_count"), link.delivery_count)
        link.credit = max(0, credit + ahead(said, link.delivery_count))


def _transfer_sent(session: Session, fields: Fields) -> None:
    # Each transfer reduces the window of the other side by one, whatever it carries (§2.5.6).
    session.next_outgoing_id = serial(session.next_outgoing_id + 1)
    session.remote_incoming_window = max(0, session.remote_incoming_window - 1)
    link = session.links.get(_plain_number(fields.get("handle"), -1))
    if link is None:
        return
    if link.sending is None:
        link.sending = link.last_outgoing = _outgoing(session, link, fields)
    link.sending.settled = link.sending.settled or _plain(fields.get("settled")) is True
    # A delivery ends with a transfer without `more`, or with an aborted one (§2.6.14); both count as sent.
    if _plain(fields.get("more")) is not True or _plain(fields.get("aborted")) is True:
        link.sending = None
        link.sent += 1
        link.delivery_count = serial(link.delivery_count + 1)
        link.credit = max(0, link.credit - 1)


def _outgoing(session: Session, link: Link, fields: Fields) -> Outgoing:
    id = serial(_plain_number(fields.get("delivery_id"), session.next_delivery_id))
    session.next_delivery_id = serial(id + 1)
    outgoing = Outgoing(id, _plain(fields.get("delivery_tag")), link)
    session.outgoing[id] = outgoing
    return outgoing


def _detach_sent(session: Session, fields: Fields) -> None:
    link = session.links.get(_plain_number(fields.get("handle"), -1))
    if link is not None:
        link.detach_sent = True


def _end_sent(session: Session, fields: Fields) -> None:
    session.end_sent = True


_SENT: dict[str, Callable[[Session, Fields], None]] = {
    "attach": _attach_sent,
    "flow": _flow_sent,
    "transfer": _transfer_sent,
    "detach": _detach_sent,
    "end": _end_sent,
}


# --- received, by performative


def _attached(session: Session, arrival: FrameArrived) -> FrameArrived:
    # The two ends of a link have one name and opposite roles (§2.6.1).
    role = "sender" if arrival["role"] == RECEIVER else "receiver"
    link = session.link_named(arrival["name"], role)
    if link is None:
        return arrival
    arrival = replace(arrival, link=link)
    handle = number(arrival["handle"], -1)
    if link.attached is None:
        link.attached, link.remote_handle = arrival, handle
        if not link.is_sender:
            link.delivery_count = number(arrival["initial_delivery_count"], 0)
    session.by_remote_handle[handle] = link
    return arrival


def _flowed(session: Session, arrival: FrameArrived) -> FrameArrived:
    # Transfers sent after the target wrote this flow already count against its window; if the flow names no id, the
    # target has not seen the begin, and the window counts from the initial id (§2.5.6).
    next_id = number(arrival["next_incoming_id"], session.initial_outgoing_id)
    window = number(arrival["incoming_window"], 0)
    session.flow = arrival
    session.remote_incoming_window = max(0, window + ahead(next_id, session.next_outgoing_id))
    session.remote_outgoing_window = number(arrival["outgoing_window"], 0)
    link = session.by_remote_handle.get(number(arrival["handle"], -1))
    if link is None:
        return arrival
    link.flow = arrival = replace(arrival, link=link)
    link.available = arrival["available"]
    # A receiver that has not received attach yet sends no delivery-count: credit counts from the initial one
    # (§2.7.4).
    initial = serial(link.delivery_count - link.sent) if link.is_sender else link.delivery_count
    count = number(arrival["delivery_count"], initial)
    if link.is_sender:
        link.drain = arrival["drain"] is True
        link.credit = max(0, number(arrival["link_credit"], 0) + ahead(count, link.delivery_count))
    elif "delivery_count" in arrival.given:
        link.credit = max(0, link.credit - max(0, ahead(count, link.delivery_count)))
        link.delivery_count = serial(count)
    return arrival


def _transferred(session: Session, arrival: FrameArrived) -> FrameArrived:
    # Ids of transfers are implicit: each transfer has the next one (§2.5.6).
    if session.next_incoming_id is not None:
        session.next_incoming_id = serial(session.next_incoming_id + 1)
    session.incoming_window = max(0, session.incoming_window - 1)
    link = session.by_remote_handle.get(number(arrival["handle"], -1))
    if link is None:
        return arrival
    arrival = replace(arrival, link=link)
    link.transfers += 1
    link.begun += not link.partial
    link.partial.append(arrival)
    if arrival["more"] is True and arrival["aborted"] is not True:
        return arrival
    if arrival["aborted"] is True:
        link.aborted += 1
    else:
        delivery = Delivery(link, link.partial)
        link.inbox.append(delivery)
        _keep(session.incoming, delivery.id, delivery)
    link.partial = []
    link.delivery_count = serial(link.delivery_count + 1)
    link.credit = max(0, link.credit - 1)
    return arrival


def _disposed(session: Session, arrival: FrameArrived) -> FrameArrived:
    first = number(arrival["first"], -1)
    last = number(arrival["last"], first)
    state = arrival["state"] if isinstance(arrival["state"], Composed) else None
    settled = arrival["settled"] is True
    # A receiver's disposition is about received deliveries, a sender's about sent ones; their ids may be equal
    # (§2.7.6).
    if arrival["role"] == RECEIVER:
        for outgoing in _between(session.outgoing, first, last):
            outgoing.state = state if state is not None else outgoing.state
            outgoing.settled_by_target = outgoing.settled_by_target or settled
        return arrival
    for delivery in _between(session.incoming, first, last):
        delivery.state_by_target = state if state is not None else delivery.state_by_target
        delivery.settled_by_target = delivery.settled_by_target or settled
    return arrival


def _detached(session: Session, arrival: FrameArrived) -> FrameArrived:
    # From detach on, the handle is free for another link (§2.6.4).
    link = session.by_remote_handle.pop(number(arrival["handle"], -1), None)
    if link is None:
        return arrival
    link.detached_by = arrival = replace(arrival, link=link)
    return arrival


_RECEIVED: dict[str, Callable[[Session, FrameArrived], FrameArrived]] = {
    "attach": _attached,
    "flow": _flowed,
    "transfer": _transferred,
    "disposition": _disposed,
    "detach": _detached,
}


# --- steps of this module


def covers(disposition: FrameArrived, id: int) -> bool:
    """Whether a disposition is about a delivery-id."""
    first = number(disposition["first"], -1)
    last = number(disposition["last"], first)
    return first >= 0 and ahead(id, first) >= 0 and ahead(last, id) >= 0


def _between(known: dict[int, Any], first: int, last: int) -> list[Any]:
    if first < 0:
        return []
    span = ahead(last, first) + 1
    # Most dispositions cover one of many deliveries; to compare all with each would take quadratic time.
    if 0 < span < len(known):
        return [known[id] for id in map(serial, range(first, first + span)) if id in known]
    return [item for id, item in known.items() if ahead(id, first) >= 0 and ahead(last, id) >= 0]


def _keep(known: dict[int, Any], id: int, item: Any) -> None:
    if len(known) < _TOO_MANY:
        known[id] = item


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Value) else value


def _plain_number(value: Any, instead: int) -> int:
    return number(_plain(value), instead)


def _address(fields: Fields, role: str) -> Any:
    terminus = fields.get("target" if role == "sender" else "source")
    return terminus.get("address") if isinstance(terminus, Mapping) else None
