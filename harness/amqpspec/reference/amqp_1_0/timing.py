"""What a broker may do when a message's time has run out: here, only as a fault.

Knows: where a message says how long it lives. Must not know: links.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amqpspec.reference.amqp_1_0.messages import ttl_ms_of

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.nodes import Held
    from amqpspec.reference.amqp_1_0.session import Session


def settle_on_ttl(session: Session, held: Held) -> None:
    """Settle a delivery without asking once its message's time has run out."""
    ttl_ms = ttl_ms_of(held.entry.message.body)
    if ttl_ms is not None:
        asyncio.get_running_loop().call_later(ttl_ms / 1000, _settle, session, held)


def _settle(session: Session, held: Held) -> None:
    if session.unsettled.get(held.delivery_id) is not held:
        return
    fields = {"role": "sender", "first": held.delivery_id, "settled": True, "state": "released"}
    session.send("disposition", fields)
    session.connection.core.flush()
