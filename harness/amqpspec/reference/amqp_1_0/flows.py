"""Flow in both directions: the reported state of a session and its links, and its effects.

Knows: the formulas of windows and credit. Must not know: messages.
"""

from __future__ import annotations

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed


def on_flow(session: Session, flow: Composed) -> None:
    """A flow has arrived: first windows, then credit, then what both allow to be sent; an answer tells the state
    after that.

    A flow for a link that was refused crossed the refusal, and changes nothing.
    """
    endpoint = None
    if flow.get("handle") in session.rejected:
        return
    if flow.get("handle") is not None:
        endpoint = session.endpoint_at(flow["handle"], "flow")
    else:
        _check_session_flow(session, flow)
    _take_windows(session, flow)
    session.pump_pending()
    if endpoint is not None:
        endpoint.on_flow(flow)
    elif session.faulty("session-flow-resets-credit"):
        for other in session.endpoints.values():
            other.credit = 0
    later, echo = session.connection.core.later, bool(flow["echo"])
    later(session.pump)
    if isinstance(endpoint, SendingEndpoint) and endpoint.drain:
        # What the node has goes out before the rest of the credit is given up.
        later(lambda: _drained(session, endpoint, echo=echo))
    else:
        _answer(session, endpoint, drained=False, echo=echo)
    later(lambda: _drain_others(session, endpoint))


def _drained(session: Session, endpoint: SendingEndpoint, *, echo: bool) -> None:
    if endpoint.attached:
        _answer(session, endpoint, drained=endpoint.drained(), echo=echo)


def _drain_others(session: Session, endpoint: LinkEndpoint | None) -> None:
    """Links in drain mode that had to wait for a window."""
    for other in tuple(session.endpoints.values()):
        if (
            other is not endpoint
            and isinstance(other, SendingEndpoint)
            and other.credit > 0
            and other.drained()
        ):
            session.send_flow(other)


def _answer(session: Session, endpoint: LinkEndpoint | None, *, drained: bool, echo: bool) -> None:
    if endpoint is None and echo and session.endpoints and session.faulty("session-echo-answered-by-a-link"):
        endpoint = next(iter(session.endpoints.values()))
    if drained and not session.faulty("drain-not-told"):
        session.send_flow(endpoint)
    elif echo and not session.faulty("echo-not-answered"):
        if endpoint is not None and session.faulty("echo-on-link-answered-for-session"):
            endpoint = None
        session.send_flow(endpoint)
        if session.faulty("echo-answered-twice"):
            session.send_flow(endpoint)


def _take_windows(session: Session, flow: Composed) -> None:
    """How many transfers the partner accepts beyond those in flight to it (1.0 §2.5.6).

    What it says of its own next transfer is taken over, whatever was counted here. It counted its window from the next
    transfer that it expected; without that number, from the first of all.
    """
    announced = flow.get("next_outgoing_id")
    if announced is not None and not session.faulty("next-outgoing-id-not-taken-over"):
        session.next_incoming_id = announced
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


FAULTS = fault_table("""
next-outgoing-id-not-taken-over: the next-outgoing-id of a flow changes nothing [sessions/flow/received/rewound]
window-without-the-formula: the partner's window is used as it is in its flow
    [sessions/flow/remote-incoming-window sessions/flow/window-formula]
unset-next-incoming-id-is-now: without next-incoming-id, the partner's window counts from now
    [sessions/flow/window-without-next-incoming-id performatives/flow/next-incoming-id/unset]
session-flow-resets-credit: a flow for the session sets the credit of its links to zero
    [performatives/flow/handle/session-only]
echo-not-answered: a flow that requests an answer gets none [performatives/flow/echo/answered links/stopping/echo]
echo-on-link-answered-for-session: a flow of a link that requests an answer gets one for the session
    [performatives/flow/echo/answered links/stopping/echo performatives/flow/link-credit/sender]
session-echo-answered-by-a-link: a flow of the session that requests an answer gets one of a link
    [performatives/flow/echo/link-answer]
echo-answered-twice: a flow that requests an answer gets two [performatives/flow/echo/one-answer]
drain-not-told: a sender does not report that it has drained
    [links/flow/drain/empty links/flow/drain/behaviour links/synchronous-get/timed]
""")
