"""Expired messages: here, only a fault reacts to them.

Knows: where a message has its time to live. Must not know: links.
"""

from __future__ import annotations

import asyncio

from amqpspec.reference.amqp_1_0.endpoints import LinkHost
from amqpspec.reference.amqp_1_0.messages import ttl_ms_of
from amqpspec.reference.amqp_1_0.nodes import SentDelivery


def settle_on_ttl(session: LinkHost, held: SentDelivery) -> None:
    """Settle a delivery without asking once its message's time has run out."""
    ttl_ms = ttl_ms_of(held.entry.message.body)
    if ttl_ms is not None:
        asyncio.get_running_loop().call_later(ttl_ms / 1000, _settle, session, held)


def _settle(session: LinkHost, held: SentDelivery) -> None:
    if session.unsettled.get(held.delivery_id) is not held:
        return
    fields = {"role": "sender", "first": held.delivery_id, "settled": True, "state": "released"}
    session.send("disposition", fields)
    session.connection.core.flush()
