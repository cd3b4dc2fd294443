"""The fields of a flow: the state of a session and of one of its links (1.0 §2.7.4).

Knows: which numbers a flow carries. Must not know: what they change on the other side.
"""

from __future__ import annotations

from typing import Any, Protocol

from amqpspec.reference.amqp_1_0 import limits, wire
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.fault import fault_table

OUTGOING_WINDOW = (1 << 31) - 1
"""The broker sends whatever the partner's window takes: this one is as wide as a serial number can tell."""


class Windows(Protocol):
    """The numbers of a session endpoint (1.0 §2.5.6)."""

    next_incoming_id: int
    incoming_window: int
    initial_outgoing_id: int
    next_outgoing_id: int

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""


def state_of(session: Windows, endpoint: LinkEndpoint | None, *, echo: bool = False) -> dict[str, Any]:
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
    if endpoint is not None:
        return {**fields, "handle": endpoint.own_handle, **endpoint.link_state()}
    return {**fields, **_stray(session)}


def _incoming_window(session: Windows) -> int:
    if session.faulty("incoming-window-never-told-smaller"):
        return limits.WINDOW_FRAMES
    return max(session.incoming_window, 0)


def _outgoing_window(session: Windows) -> int:
    if session.faulty("outgoing-window-counts-down"):
        return wire.plus(OUTGOING_WINDOW, -wire.minus(session.next_outgoing_id, session.initial_outgoing_id))
    return OUTGOING_WINDOW


def _stray(session: Windows) -> dict[str, Any]:
    """Fields of a link in a flow of the session, as faults will have them."""
    names: dict[str, Any] = {
        "delivery_count": 0 if session.faulty("delivery-count-without-handle") else None,
        "link_credit": 0 if session.faulty("link-credit-without-handle") else None,
        "available": 0 if session.faulty("available-without-handle") else None,
        "drain": True if session.faulty("drain-without-handle") else None,
        "properties": {} if session.faulty("properties-without-handle") else None,
    }
    return {key: value for key, value in names.items() if value is not None}


FAULTS = fault_table("""
outgoing-window-counts-down: each transfer sent takes one off the outgoing window
    [sessions/flow/outgoing-window-policy]
incoming-window-never-told-smaller: flows always contain the whole incoming window
    [sessions/flow/incoming-window-policy]
flow-without-outgoing-window: the broker's flows lack the outgoing-window [performatives/flow/mandatory]
flow-without-next-incoming-id: the broker's flows lack next-incoming-id [performatives/flow/next-incoming-id/set]
delivery-count-without-handle: flows for the session have a delivery-count
    [performatives/flow/delivery-count/without-handle]
link-credit-without-handle: flows for the session have a link-credit [performatives/flow/link-credit/without-handle]
available-without-handle: flows for the session have available [performatives/flow/available/without-handle]
drain-without-handle: flows for the session have drain [performatives/flow/drain/without-handle]
properties-without-handle: flows for the session have properties [performatives/flow/properties/without-handle]
echo-echoed: the broker's flows request an answer [performatives/flow/echo/no-loop]
""")
