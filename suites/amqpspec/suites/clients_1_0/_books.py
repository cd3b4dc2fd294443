"""Both sides' state of a conversation, frame by frame, as the rules for clients see it.

Knows: what each performative changes. Must not know: rules, verdicts. The order is the server's, so that a client
may not have read yet what precedes its frame. If that matters, the client gets the benefit of the doubt: of all
credits and windows that the server granted, the widest stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amqpspec.peer.amqp_1_0.books import ahead, number, serial
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0._state import RECEIVER, Delivery, Link, Session
from amqpspec.wire.amqp_1_0.frames import Performative
from amqpspec.wire.conversation import Conversation, Said

UNLIMITED = (1 << 32) - 1
LEAST_MAX_FRAME_OCTETS = 512
"""What every peer has to accept, whatever it announces (§2.8.19)."""
_OF_A_CONNECTION = ("open", "begin", "close")


class Books:
    """Everything that both sides have said so far."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.by_server_channel: dict[int, Session] = {}
        self.unpaired: dict[int, list[Said]] = {}
        """What the server said in sessions that it began and the client has not answered, by its channel."""
        self.opened: Performative | None = None
        self.server_opened: Performative | None = None
        self.closed: Said | None = None

    def limit(self, key: str) -> int:
        """What the server's open said of a limit; none before it has arrived."""
        return UNLIMITED if self.server_opened is None else number(self.server_opened[key], UNLIMITED)

    def session_of(self, said: Said) -> Session | None:
        """The client's session of a separate frame, ended or not."""
        return self.sessions.get(said.channel)

    def link_of(self, said: Said) -> Link | None:
        """The client's link of a separate frame, detached or not."""
        session = self.session_of(said)
        return None if session is None else session.links.get(number(fields(said)["handle"], -1))

    def take(self, said: Said) -> None:
        """Take down a frame."""
        performative = performative_of(said)
        table = _CLIENT if said.sender is Side.CLIENT else _SERVER
        if performative is None or said.name not in table:
            return
        if said.sender is Side.SERVER and said.name not in _OF_A_CONNECTION and said.channel in self.unpaired:
            self.unpaired[said.channel].append(said)
        else:
            table[said.name](self, said, performative)

    def take_all(self, said: Iterable[Said]) -> None:
        """Take down what the server said before the client answered it."""
        for one in said:
            self.take(one)


def performative_of(said: Said) -> Performative | None:
    """What a frame carries, None for a header, an empty or an unreadable frame."""
    return getattr(said.what, "performative", None)


def fields(said: Said) -> Performative:
    """What a frame carries that is known to carry something."""
    performative = performative_of(said)
    assert performative is not None
    return performative


def tag_of(transfer: Performative) -> bytes:
    """The delivery-tag; no octets if there is none, or a value of another type."""
    tag = transfer["delivery_tag"]
    return tag if isinstance(tag, bytes) else b""


def walk(talk: Conversation, *names: str) -> Iterator[tuple[Said, Books]]:
    """The client's frames of these names (none: all), each with the books as they stood before it."""
    books = Books()
    for said in talk.said:
        if said.sender is Side.CLIENT and (not names or said.name in names):
            yield said, books
        books.take(said)


def later(one: int | None, other: int) -> int:
    """The later of two serial numbers."""
    return other if one is None or ahead(other, one) > 0 else one


# --- what the client says


def _open(books: Books, said: Said, open_: Performative) -> None:
    books.opened = books.opened or open_


def _close(books: Books, said: Said, close: Performative) -> None:
    books.closed = books.closed or said


def _begin(books: Books, said: Said, begin: Performative) -> None:
    known = books.sessions.get(said.channel)
    if known is not None and not known.is_ended:
        return
    session = books.sessions[said.channel] = Session(said.channel, begin)
    asked = books.unpaired.pop(number(begin["remote_channel"], -1), [])
    if asked:
        # A begin that names the other's channel shows that its sender has read the other's begin (§2.7.2).
        session.proves_begin = True
        _answer(books, session, asked[0])
        books.take_all(asked[1:])


def _end(books: Books, said: Said, end: Performative) -> None:
    if (session := books.session_of(said)) is not None:
        session.is_ended = True


def _attach(books: Books, said: Said, attach: Performative) -> None:
    session, handle = books.session_of(said), number(attach["handle"], -1)
    if session is not None:
        known = session.links.get(handle)
        if known is not None and not known.is_detached:
            return
        session.links[handle] = Link(session, handle, attach)
        asked = next((a for a in session.unpaired if _is_other_end(attach, fields(a[0]))), [])
        session.unpaired = [a for a in session.unpaired if a is not asked]
        session.received -= sum(one.name == "transfer" for one in asked)  # each is taken down again
        books.take_all(asked)


def _detach(books: Books, said: Said, detach: Performative) -> None:
    if (link := books.link_of(said)) is not None:
        link.is_detached = True


def _flow(books: Books, said: Said, flow: Performative) -> None:
    link = books.link_of(said)
    # A receiver names a delivery-count once it has read the server's attach, which comes behind begin (§2.7.4).
    if link is not None and not link.is_sender and "delivery_count" in flow.given:
        link.session.proves_begin = True


def _transfer(books: Books, said: Said, transfer: Performative) -> None:
    session, link = books.session_of(said), books.link_of(said)
    if session is None:
        return
    session.sent, session.proves_begin = session.sent + 1, True
    if link is None:
        return
    if link.partial is None:
        _first(session, link, transfer)
    delivery = link.partial
    if delivery is None:
        return
    if transfer["settled"] is True:
        _settle(delivery, "client")
    if transfer["more"] is not True or transfer["aborted"] is True:
        link.partial = None
        if transfer["aborted"] is True:
            _settle(delivery, "client")


def _first(session: Session, link: Link, transfer: Performative) -> None:
    id = number(transfer["delivery_id"], -1)
    delivery = Delivery(id, tag_of(transfer), link, transfer["message_format"], transfer["resume"] is True)
    link.partial, link.sent, session.last_id = delivery, link.sent + 1, id
    session.outgoing[id] = delivery
    link.unsettled[delivery.tag] = delivery


def _disposition(books: Books, said: Said, disposition: Performative) -> None:
    if (session := books.session_of(said)) is not None:
        session.proves_begin = True
        known = session.incoming if disposition["role"] is RECEIVER else session.outgoing
        _dispose(known, disposition, "client")


# --- what the server says


def _server_open(books: Books, said: Said, open_: Performative) -> None:
    books.server_opened = books.server_opened or open_


def _server_begin(books: Books, said: Said, begin: Performative) -> None:
    if "remote_channel" not in begin.given:
        books.by_server_channel.pop(said.channel, None)
        books.unpaired[said.channel] = [said]
        return
    session = books.sessions.get(number(begin["remote_channel"], -1))
    if session is not None and session.answer is None:
        _answer(books, session, said)


def _answer(books: Books, session: Session, said: Said) -> None:
    session.answer = fields(said)
    books.by_server_channel[said.channel] = session
    _widen(session, session.answer)


def _server_attach(books: Books, said: Said, attach: Performative) -> None:
    session = books.by_server_channel.get(said.channel)
    if session is None:
        return
    handle = number(attach["handle"], -1)
    for link in session.links.values():
        if _is_other_end(link.attach, attach) and link.answer is None and not link.is_detached:
            link.answer = attach
            session.by_server_handle[handle] = link
            return
    session.by_server_handle.pop(handle, None)
    session.unpaired.append([said])


def _is_other_end(one: Performative, other: Performative) -> bool:
    """Whether two attaches are about the same link."""
    return bool(one["name"] == other["name"]) and one["role"] is not other["role"]


def _is_early(session: Session, said: Said) -> bool:
    """Keep what is sent on a link that only the server has attached so far."""
    handle = fields(said)["handle"]
    for asked in session.unpaired:
        if asked[-1].name != "detach" and fields(asked[0])["handle"] == handle:
            asked.append(said)
            return True
    return False


def _server_flow(books: Books, said: Said, flow: Performative) -> None:
    session = books.by_server_channel.get(said.channel)
    if session is None:
        return
    _widen(session, flow)
    _skip(session, flow)
    if _is_early(session, said):
        return
    link = session.by_server_handle.get(number(flow["handle"], -1))
    if link is None or not link.is_sender:
        return
    link.is_draining = link.is_draining or flow["drain"] is True
    count = number(flow["delivery_count"], number(link.attach["initial_delivery_count"], 0))
    link.credit_to = later(link.credit_to, serial(count + number(flow["link_credit"], 0)))


def _skip(session: Session, flow: Performative) -> None:
    """A flow may be ahead of the transfers: its receiver continues from the id that it names (§2.5.6)."""
    if session.answer is not None:
        ahead_by = ahead(number(flow["next_outgoing_id"], 0), number(session.answer["next_outgoing_id"], 0))
        session.received = max(session.received, ahead_by)


def _widen(session: Session, said: Performative) -> None:
    """The window that a begin or a flow of the server leaves open (§2.5.6)."""
    initial = number(session.begin["next_outgoing_id"], 0)
    known = number(said["next_incoming_id"], initial) if said.name == "flow" else initial
    session.window_to = later(session.window_to, serial(known + number(said["incoming_window"], 0)))


def _server_transfer(books: Books, said: Said, transfer: Performative) -> None:
    session = books.by_server_channel.get(said.channel)
    if session is None:
        return
    session.received += 1
    if _is_early(session, said):
        return
    handle = number(transfer["handle"], -1)
    link = session.by_server_handle.get(handle)
    if link is None:
        return
    delivery = session.server_partial.get(handle)
    if delivery is None:
        delivery = Delivery(number(transfer["delivery_id"], -1), tag_of(transfer), link)
        session.incoming[delivery.id] = session.server_partial[handle] = delivery
    if transfer["settled"] is True:
        _settle(delivery, "server")
    if transfer["more"] is not True or transfer["aborted"] is True:
        del session.server_partial[handle]
        if transfer["aborted"] is True:
            _settle(delivery, "server")


def _server_disposition(books: Books, said: Said, disposition: Performative) -> None:
    session = books.by_server_channel.get(said.channel)
    if session is not None:
        known = session.outgoing if disposition["role"] is RECEIVER else session.incoming
        _dispose(known, disposition, "server")


def _server_detach(books: Books, said: Said, detach: Performative) -> None:
    session = books.by_server_channel.get(said.channel)
    if session is not None and not _is_early(session, said):
        handle = number(detach["handle"], -1)
        session.by_server_handle.pop(handle, None)
        session.server_partial.pop(handle, None)  # what was not complete is not continued on another link


# --- deliveries


def named(known: dict[int, Delivery], disposition: Performative) -> list[Delivery]:
    """The deliveries of one direction that a disposition is about."""
    first = number(disposition["first"], -1)
    last = number(disposition["last"], first)
    return [d for id, d in known.items() if ahead(id, first) >= 0 and ahead(last, id) >= 0]


def _dispose(known: dict[int, Delivery], disposition: Performative, by: str) -> None:
    for delivery in named(known, disposition):
        if by == "client":
            delivery.state = disposition["state"] or delivery.state
        if disposition["settled"] is True:
            _settle(delivery, by)


def _settle(delivery: Delivery, by: str) -> None:
    delivery.settled = delivery.settled or by
    if delivery.link.unsettled.get(delivery.tag) is delivery:
        del delivery.link.unsettled[delivery.tag]


_CLIENT = {
    "open": _open,
    "close": _close,
    "begin": _begin,
    "end": _end,
    "attach": _attach,
    "detach": _detach,
    "flow": _flow,
    "transfer": _transfer,
    "disposition": _disposition,
}
_SERVER = {
    "open": _server_open,
    "begin": _server_begin,
    "attach": _server_attach,
    "flow": _server_flow,
    "transfer": _server_transfer,
    "disposition": _server_disposition,
    "detach": _server_detach,
}
