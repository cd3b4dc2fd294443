"""Messages in fragments, and resumed transfers.

Knows: which fragment ends a message, which parts are kept for its sender. Must not know: routing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import DELIVERY, FRAGMENT
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.values import Packed

_KEEP_S, _LONGEST_KEEP_S = 60.0, 600.0
_MOST_KEPT = 1024


@dataclass(slots=True, eq=False)
class Whole:
    """A message, or what has arrived of it so far."""

    header: tuple[Any, ...]
    body: bytes

    def struct(self, name: str) -> Mapping[str, Any]:
        """The fields of a struct in the header; empty if it is absent."""
        found = (e.fields for e in self.header if isinstance(e, Packed) and e.name == name)
        return next(found, {})


_BEGUN: WeakKeyDictionary[Session, dict[str, Whole]] = WeakKeyDictionary()
"""The messages of a session that have begun and not ended, by their destination."""
_KEPT: WeakKeyDictionary[Core, dict[tuple[str, str], Whole]] = WeakKeyDictionary()


def joined(session: Session, order: Order) -> Whole | None:
    """The message that a transfer completes;

    None if more fragments follow. A transfer without the struct is a complete message.
    """
    header = tuple(order.header or ())
    piece = Whole(header, order.body or b"")
    flags = piece.struct(FRAGMENT)
    has_flags = any(isinstance(e, Packed) and e.name == FRAGMENT for e in header)
    delivery = piece.struct(DELIVERY)
    if "resume_ttl" in delivery and "resume_id" not in delivery and session.faulty("resume-ttl-needs-an-id"):
        return None
    if not has_flags or session.faulty("fragments-are-messages"):
        return piece
    begun, name = _begun(session), order["destination"] or ""
    first = begun.get(name)
    if flags.get("first") or first is None:
        whole = piece
    elif session.faulty("properties-of-the-last-fragment-count"):
        whole = Whole(piece.header, first.body + piece.body)
    else:
        whole = Whole(first.header, first.body + piece.body)
    begun[name] = whole
    if not flags.get("last"):
        return None
    return begun.pop(name)


def _begun(session: Session) -> dict[str, Whole]:
    if session not in _BEGUN:
        _BEGUN[session] = {}
        session.at_end.append(lambda: _keep(session))
    return _BEGUN[session]


# --- resuming


def _kept(session: Session) -> dict[tuple[str, str], Whole]:
    return _KEPT.setdefault(session.core, {})


def _keep(session: Session) -> None:
    """The session ends: messages with a resume-id are kept for their sender, for the requested time, up to a limit."""
    for whole in _begun(session).values():
        delivery = whole.struct(DELIVERY)
        name = delivery.get("resume_id")
        if name is None or len(_kept(session)) >= _MOST_KEPT or session.faulty("broken-transfers-lost"):
            continue
        key = (session.user.name, name)
        _kept(session)[key] = whole
        ttl_ms = None if session.faulty("resume-ttl-ignored") else delivery.get("resume_ttl")
        keep_s = _KEEP_S if ttl_ms is None else min(ttl_ms / 1000, _LONGEST_KEEP_S)
        asyncio.get_running_loop().call_later(keep_s, _forget, _kept(session), key, whole)


def _forget(kept: dict[tuple[str, str], Whole], key: tuple[str, str], whole: Whole) -> None:
    if kept.get(key) is whole:
        del kept[key]


@executes("message.resume")
def resume(session: Session, order: Order) -> Packed:
    """Report how much of a transfer has arrived; the rest belongs to this session."""
    name = order["destination"] or ""
    if name not in session.vhost.exchanges:
        rule = "message/resume/destination/destination-not-found"
        session.refuse(rule, f"no exchange {name!r}", "destination")
    whole = _kept(session).pop((session.user.name, order["resume_id"]), None)
    offset = 0 if whole is None else len(whole.body) + session.faulty("one-octet-too-many")
    if whole is not None:
        _begun(session)[name] = whole
    elif session.faulty("unknown-transfers-have-an-offset"):
        offset = 1
    return Packed("message.message-resume-result", {"offset": offset})


FAULTS = fault_table("""
fragments-are-messages: every fragment is a separate message
    [message/fragment-properties/one-client message/fragment-properties/whole-first
    message/fragment-properties/first-only]
properties-of-the-last-fragment-count: a message in fragments has the properties of the last one
    [message/fragment-properties/first-only]
broken-transfers-lost: an interrupted transfer is lost
    [message/resume/amount message/delivery-properties/resume-id/retained]
resume-ttl-ignored: an interrupted transfer is kept whatever its resume-ttl
    [message/delivery-properties/resume-ttl/guideline]
resume-ttl-needs-an-id: a message with a resume-ttl but no resume-id is ignored
    [message/delivery-properties/resume-ttl/alone]
unknown-transfers-have-an-offset: resume of an unknown transfer reports offset 1
    [message/resume/resume-id/unknown-resume-id]
one-octet-too-many: resume reports one octet too many [message/resume/amount]
""")
