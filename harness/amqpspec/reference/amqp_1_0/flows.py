"""Flow in both directions: what it tells of a session and its links, and what it changes.

Knows: the formulas of windows and credit. Must not know: messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.amqp_1_0 import limits, wire
from amqpspec.reference.amqp_1_0.sending import SendingEnd
from amqpspec.wire.amqp_1_0.performatives import Composed

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.ends import End
    from amqpspec.reference.amqp_1_0.session import Session

_OUTGOING_WINDOW = (1 << 31) - 1


def state_of(session: Session, end: End | None, *, echo: bool = False) -> dict[str, Any]:
    """The fields of a flow."""
    fields: dict[str, Any] = {
        "next_incoming_id": None
        if session.faulty("flow-without-next-incoming-id")
        else session.next_incoming_id,
        "incoming_window": _incoming_window(session),
        "next_outgoing_id": session.next_outgoing_id,
        "outgoing_window": None
        if session.faulty("flow-without-outgoing-window")
        else _outgoing_window(session),
        "echo": True if echo or session.faulty("echo-echoed") else None,
    }
    if end is not None:
        return {**fields, "handle": end.own_handle, **end.link_state()}
    return {**fields, **_stray(session)}


def _incoming_window(session: Session) -> int:
    if session.faulty("incoming-window-never-told-smaller"):
        return limits.WINDOW_FRAMES
    return max(session.incoming_window, 0)


def _outgoing_window(session: Session) -> int:
    if session.faulty("outgoing-window-counts-down"):
        return wire.plus(_OUTGOING_WINDOW, -wire.minus(session.next_outgoing_id, session.initial_outgoing_id))
    return _OUTGOING_WINDOW


def _stray(session: Session) -> dict[str, Any]:
    """Fields of a link in a flow of the session, as faults will have them."""
    names: dict[str, Any] = {
        "delivery_count": 0 if session.faulty("delivery-count-without-handle") else None,
        "link_credit": 0 if session.faulty("link-credit-without-handle") else None,
        "available": 0 if session.faulty("available-without-handle") else None,
        "drain": True if session.faulty("drain-without-handle") else None,
        "properties": {} if session.faulty("properties-without-handle") else None,
    }
    return {key: value for key, value in names.items() if value is not None}


def on_flow(session: Session, flow: Composed) -> None:
    """A flow has come."""
    end = None
    if flow.get("handle") in session.rejected:
        return
    if flow.get("handle") is not None:
        end = session.end_at(flow["handle"], "flow")
    else:
        _check_session_flow(session, flow)
    _take_windows(session, flow)
    session.pump_pending()
    if end is not None:
        end.on_flow(flow)  # type: ignore[attr-defined]
    elif session.faulty("session-flow-resets-credit"):
        for other in session.ends.values():
            other.credit = 0
    session.pump()
    drained = isinstance(end, SendingEnd) and end.drained()
    _answer(session, end, drained=drained, echo=bool(flow["echo"]))
    _drain_others(session, end)


def _drain_others(session: Session, end: End | None) -> None:
    """Links in drain mode that had to wait for a window."""
    for other in tuple(session.ends.values()):
        if other is not end and isinstance(other, SendingEnd) and other.credit > 0 and other.drained():
            session.send_flow(other)


def _answer(session: Session, end: End | None, *, drained: bool, echo: bool) -> None:
    if end is None and echo and session.ends and session.faulty("session-echo-answered-by-a-link"):
        end = next(iter(session.ends.values()))
    if drained and not session.faulty("drain-not-told"):
        session.send_flow(end)
    elif echo and not session.faulty("echo-not-answered"):
        if end is not None and session.faulty("echo-on-link-answered-for-session"):
            end = None
        session.send_flow(end)
        if session.faulty("echo-answered-twice"):
            session.send_flow(end)


def _take_windows(session: Session, flow: Composed) -> None:
    window = flow.get("incoming_window", 0)
    if session.faulty("window-without-the-formula"):
        session.remote_window = window
        return
    known = flow.get("next_incoming_id")
    if known is None:
        known = (
            session.next_outgoing_id
            if session.faulty("unset-next-incoming-id-is-now")
            else session.initial_outgoing_id
        )
    session.remote_window = window - wire.minus(session.next_outgoing_id, known)


def _check_session_flow(session: Session, flow: Composed) -> None:
    given = flow.given
    if "delivery_count" in given:
        session.refuse("performatives/flow/delivery-count/without-handle", "delivery-count without handle")
    if "link_credit" in given:
        session.refuse("performatives/flow/link-credit/without-handle", "link-credit without handle")
    if "available" in given:
        session.refuse("performatives/flow/available/without-handle", "available without handle")
    if flow["drain"]:
        session.refuse("performatives/flow/drain/without-handle", "drain without handle")
    if "properties" in given:
        session.refuse("performatives/flow/properties/without-handle", "properties without handle")
