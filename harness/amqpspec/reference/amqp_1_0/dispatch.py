"""Dispatches the frames of a session.

Knows: the handler of each performative. Must not know: the effects of performatives.
"""

from __future__ import annotations

from amqpspec.reference.amqp_1_0.answering import answer_crossing
from amqpspec.reference.amqp_1_0.attaching import on_attach
from amqpspec.reference.amqp_1_0.dispositions import on_disposition
from amqpspec.reference.amqp_1_0.flows import on_flow
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.amqp_1_0.sound import check
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed


def on_session_frame(session: Session, frame: Composed, payload: bytes) -> None:
    """A frame has arrived, other than begin."""
    if session.ended and not session.faulty("session-works-on-after-end"):
        session.on_frame_after_end(frame.name)
        return
    check(frame, session.refuse)
    if frame.name == "transfer":
        _on_transfer(session, frame, payload)
    elif frame.name == "flow":
        on_flow(session, frame)
    elif frame.name == "disposition":
        on_disposition(session, frame)
    elif frame.name == "attach":
        on_attach(session, frame)
    elif frame.name == "detach":
        _on_detach(session, frame)
    else:
        session.ended_by_peer()


def _on_transfer(session: Session, frame: Composed, payload: bytes) -> None:
    """Count a transfer, whatever happens to it: the window counts frames, not deliveries (1.0 §2.5.6)."""
    if session.incoming_window <= 0:
        session.refuse("definitions/condition/window-violation", "a transfer beyond the incoming window")
    session.count_incoming()
    if frame["handle"] in session.rejected:
        return
    endpoint = session.endpoint_at(frame["handle"], "transfer")
    if isinstance(endpoint, ReceivingEndpoint):
        endpoint.on_transfer(frame, payload)
    elif endpoint is not None:
        session.refuse("definitions/condition/not-allowed", "a transfer on a link whose receiver sent it")


def _on_detach(session: Session, frame: Composed) -> None:
    """Detach a link; for one that the broker has refused, this is the answer that frees its handle."""
    handle = frame["handle"]
    if handle in session.failed or handle in session.rejected:
        failed = session.failed.pop(handle, None)
        session.rejected.discard(handle)
        if failed is not None and frame["closed"] and not failed.closed:
            answer_crossing(session, failed)
        if session.faulty("handle-of-refused-link-kept"):
            session.rejected.add(handle)
        return
    endpoint = session.endpoints.get(handle)
    if endpoint is None:
        text = f"detach with handle {handle}, which has no link"
        session.refuse("definitions/condition/unattached-handle", text)
        return
    endpoint.detached_by_peer(bool(frame["closed"]))


FAULTS = fault_table("""
handle-of-refused-link-kept: the handle of a refused link is not freed [links/handles/until-detach]
""")
