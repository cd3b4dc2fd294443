"""What a careful client of AMQP 1.0 looks at in each frame of a server before it takes it in.

Knows: the rules that a server can break, and what refuses each. Must not know: scenarios, how a refusal is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from amqpspec.peer.amqp_1_0.arrivals import RECEIVER
from amqpspec.peer.amqp_1_0.booking import Books
from amqpspec.peer.amqp_1_0.books import HANDLE_MAX, FrameArrived, Link, ahead, number, serial
from amqpspec.peer.amqp_1_0.books import Session as Book
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_1_0.message import decode_message
from amqpspec.wire.errors import WireError

MAX_FRAME_OCTETS, CHANNEL_MAX, OWN_HANDLE_MAX, WINDOW_FRAMES = 65_536, 15, 15, 200
"""What the agent takes, as it announces it."""
_FRAMING, _DECODE = "amqp:connection:framing-error", "amqp:decode-error"
_ILLEGAL, _NOT_ALLOWED, _INVALID = "amqp:illegal-state", "amqp:not-allowed", "amqp:invalid-field"
_UNATTACHED = "amqp:session:unattached-handle"
_OF_LINKS = ("delivery_count", "link_credit", "available", "properties")
_MAX_SASL_OCTETS, _MAX_TAG_OCTETS = 512, 32


class Watched(Protocol):
    """What the checks need of a connection: its state and its phase."""

    books: Books
    mechanisms: tuple[str, ...]
    headers: list[bytes]
    is_logged_in: bool
    done: set[int]
    """The deliveries that the agent has settled, by id."""

    @property
    def faulty(self) -> Callable[[str], bool]:
        """Whether a mistake is to be made."""
        ...


class Violated(Exception):
    """The server broke the specification; ``scope`` and ``condition`` refuse it, ``socket`` does so silently."""

    def __init__(
        self, scope: Scope, condition: str, text: str, book: Book | None = None, link: Link | None = None
    ) -> None:
        super().__init__(text)
        self.scope, self.condition = scope, condition
        self.channel = 0 if book is None else book.channel
        self.handle = 0 if link is None else link.handle


def of_octets(error: WireError, *, in_words: bool, framing_lost: bool) -> Violated:
    """What octets that cannot be read are refused with; ``in_words`` once frames can be sent at all."""
    condition = _FRAMING if framing_lost else _DECODE
    return Violated(Scope.CONNECTION if in_words else Scope.SOCKET, condition, str(error))


def look(session: Watched, arrival: FrameArrived) -> None:
    """Check that a frame is allowed at this point; raises Violated."""
    if not session.books.open_sent:
        _in_sasl(session, arrival)
        return
    _as_a_frame(session, arrival)
    name, books = arrival.name, session.books
    if name in ("empty", "close"):
        return
    if name == "open":
        if books.opened is not None:
            raise Violated(Scope.CONNECTION, _ILLEGAL, "a second open")
    elif name == "begin":
        _begin(session, arrival)
    else:
        book = books.by_remote_channel.get(arrival.wire_channel)
        if book is None:
            raise Violated(
                Scope.CONNECTION, _ILLEGAL, f"{name} on channel {arrival.wire_channel}, which has no session"
            )
        if name in _CHECKS and not book.end_sent:
            _CHECKS[name](session, book, arrival)


def _in_sasl(session: Watched, arrival: FrameArrived) -> None:
    size, name = len(arrival.frame.octets), arrival.name
    if session.faulty("any-outcome" if name == "sasl-outcome" else "any-mechanism"):
        return
    # The agent logs in by PLAIN, which knows no challenge (RFC 4616).
    known = "sasl-outcome" if session.mechanisms else "sasl-mechanisms"
    in_turn = name == known and not session.is_logged_in and len(session.headers) == 1
    if not in_turn or arrival.payload or size > _MAX_SASL_OCTETS or arrival.frame.problems:
        raise Violated(Scope.SOCKET, "", f"{name} of {size} octets in the SASL layer")
    if name == "sasl-mechanisms" and not arrival["sasl_server_mechanisms"]:
        raise Violated(Scope.SOCKET, "", "no mechanism is offered")


def _as_a_frame(session: Watched, arrival: FrameArrived) -> None:
    frame, opened = arrival.frame, session.books.opened
    if session.headers:
        raise Violated(Scope.CONNECTION, _FRAMING, f"{arrival.name} before a protocol header")
    if len(frame.octets) > MAX_FRAME_OCTETS:
        raise Violated(Scope.CONNECTION, _FRAMING, f"a frame of {len(frame.octets)} octets")
    if arrival.name.startswith(("type-", "sasl-")) or frame.channel > CHANNEL_MAX:
        raise Violated(Scope.CONNECTION, _FRAMING, f"{arrival.name} on channel {frame.channel}")
    if opened is None and (arrival.name != "open" or frame.channel):
        raise Violated(Scope.CONNECTION, _ILLEGAL, f"{arrival.name} before open")
    if frame.problems:
        raise Violated(Scope.CONNECTION, _INVALID, str(frame.problems[0]))
    if arrival.name == "open" and number(arrival["max_frame_size"], 0) < _MAX_SASL_OCTETS:
        raise Violated(Scope.CONNECTION, _INVALID, "a max-frame-size below 512")


def _begin(session: Watched, arrival: FrameArrived) -> None:
    remote = arrival["remote_channel"]
    book = session.books.sessions.get(number(remote, -1))
    taken = arrival.wire_channel in session.books.by_remote_channel
    if remote is not None and (book is None or book.begun is not None or taken):
        raise Violated(Scope.CONNECTION, _NOT_ALLOWED, f"a begin for channel {remote}, which asked for none")


# --- in a session


def _attached(book: Book, arrival: FrameArrived) -> Link:
    handle = arrival["handle"]
    link = book.by_remote_handle.get(number(handle, -1))
    if link is None:
        raise Violated(Scope.SESSION, _UNATTACHED, f"{arrival.name} with handle {handle}", book)
    return link


def _attach(session: Watched, book: Book, arrival: FrameArrived) -> None:
    handle = number(arrival["handle"], HANDLE_MAX)
    if handle > OWN_HANDLE_MAX:
        raise Violated(Scope.CONNECTION, _FRAMING, f"attach with handle {handle}")
    if handle in book.by_remote_handle:
        raise Violated(Scope.SESSION, "amqp:session:handle-in-use", f"attach with handle {handle}", book)


def _detach(session: Watched, book: Book, arrival: FrameArrived) -> None:
    _attached(book, arrival)


def _flow(session: Watched, book: Book, arrival: FrameArrived) -> None:
    if arrival["handle"] is not None:
        _attached(book, arrival)
    elif arrival.given & set(_OF_LINKS) or arrival["drain"] is True:
        raise Violated(Scope.SESSION, _INVALID, "fields of a link in a flow without handle", book)


def _disposition(session: Watched, book: Book, arrival: FrameArrived) -> None:
    known = book.outgoing if arrival["role"] == RECEIVER else book.incoming
    first = number(arrival["first"], -1)
    last = number(arrival["last"], first)
    if first not in known or last not in known or ahead(last, first) < 0:
        raise Violated(Scope.SESSION, _NOT_ALLOWED, f"a disposition of {first} to {last}", book)


def _transfer(session: Watched, book: Book, arrival: FrameArrived) -> None:
    link = _attached(book, arrival)
    if session.faulty("swallows-every-flood"):
        return
    if link.is_sender:
        raise Violated(Scope.LINK, _NOT_ALLOWED, "a transfer to a sender", book, link)
    if not book.incoming_window:
        raise Violated(Scope.SESSION, "amqp:session:window-violation", "a transfer beyond the window", book)
    if link.partial:
        _continues(book, link, arrival)
    else:
        _begins(session, book, link, arrival)
    if arrival["more"] is not True and arrival["aborted"] is not True:
        _is_message(book, link, b"".join(t.payload for t in (*link.partial, arrival)))


def _begins(session: Watched, book: Book, link: Link, arrival: FrameArrived) -> None:
    id, tag = number(arrival["delivery_id"], -1), arrival["delivery_tag"]
    if not link.credit:
        raise Violated(
            Scope.LINK, "amqp:link:transfer-limit-exceeded", "a delivery beyond credit", book, link
        )
    if (
        id < 0
        or not isinstance(tag, bytes)
        or len(tag) > _MAX_TAG_OCTETS
        or arrival["message_format"] is None
    ):
        raise Violated(
            Scope.LINK, _INVALID, "a delivery without id, tag or format, or a long tag", book, link
        )
    last = next(reversed(book.incoming), None)
    if last is not None and id != serial(last + 1):
        raise Violated(Scope.LINK, _INVALID, f"delivery-id {id} behind {last}", book, link)
    if any(d.link is link and d.tag == tag and d.id not in session.done for d in book.incoming.values()):
        raise Violated(Scope.LINK, _INVALID, "a delivery-tag twice", book, link)


def _continues(book: Book, link: Link, arrival: FrameArrived) -> None:
    for key in ("delivery_id", "delivery_tag", "message_format"):
        if arrival[key] not in (None, link.partial[0][key]):
            raise Violated(
                Scope.LINK, _INVALID, f"another {key.replace('_', '-')} in mid-delivery", book, link
            )


def _is_message(book: Book, link: Link, payload: bytes) -> None:
    try:
        decode_message(payload)
    except WireError as error:
        raise Violated(Scope.LINK, _DECODE, str(error), book, link) from error


_CHECKS: Mapping[str, Callable[[Watched, Book, FrameArrived], None]] = {
    "attach": _attach,
    "detach": _detach,
    "flow": _flow,
    "disposition": _disposition,
    "transfer": _transfer,
}
