"""Default fields of a performative that a case omits.

Knows: mandatory fields, and their values in the state. Must not know: waiting, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from amqpspec.peer.amqp_1_0.booking import Books
from amqpspec.peer.amqp_1_0.books import Link, Session, number

MAX_FRAME_OCTETS = 128 << 10
WIRE_OPTIONS = frozenset(
    {"frame_type", "size", "doff", "extended", "encoding", "descriptor", "extra", "list_size", "list_count"}
)


class _Omit:
    """Represents a field that is not sent."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = _Omit()
Fields = dict[str, Any]


def filled(name: str, channel: int, fields: Fields, books: Books) -> Fields:
    """The fields with defaults for missing ones; ``OMIT`` removes a field, and a link is replaced by its handle."""
    fields = {key: value.handle if isinstance(value, Link) else value for key, value in fields.items()}
    session = books.sessions.get(channel)
    fill = _FILLS.get(name)
    if fill is not None:
        fields = {**fill(session or Session(channel), fields), **fields}
    return {key: value for key, value in fields.items() if value is not OMIT}


def _begin(session: Session, fields: Fields) -> Fields:
    fresh = Session(session.channel)
    return {
        "next_outgoing_id": 0,
        "incoming_window": fresh.incoming_window,
        "outgoing_window": fresh.outgoing_window,
    }


def _attach(session: Session, fields: Fields) -> Fields:
    given: Fields = {"handle": session.free_handle}
    if fields.get("role") in ("sender", False):
        given["initial_delivery_count"] = 0
    return given


def _flow(session: Session, fields: Fields) -> Fields:
    given: Fields = {
        "incoming_window": session.incoming_window,
        "next_outgoing_id": session.next_outgoing_id,
        "outgoing_window": session.outgoing_window,
    }
    if session.next_incoming_id is not None:
        given["next_incoming_id"] = session.next_incoming_id
    link = session.links.get(number(fields.get("handle"), -1))
    if link is not None:
        given["link_credit"] = link.credit
        if link.is_sender or link.attached is not None:
            given["delivery_count"] = link.delivery_count
    return given


def _transfer(session: Session, fields: Fields) -> Fields:
    link = session.links.get(number(fields.get("handle"), -1))
    if link is not None and link.sending is not None:
        return {}
    id = number(fields.get("delivery_id"), session.next_delivery_id)
    return {"delivery_id": id, "delivery_tag": id.to_bytes(4, "big"), "message_format": 0}


def _disposition(session: Session, fields: Fields) -> Fields:
    return {"role": "receiver"}


_FILLS: dict[str, Callable[[Session, Fields], Fields]] = {
    "begin": _begin,
    "attach": _attach,
    "flow": _flow,
    "transfer": _transfer,
    "disposition": _disposition,
}
