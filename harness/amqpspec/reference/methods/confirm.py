"""The confirm class: select.

Knows: that a channel is either transacted or confirming. Must not know: how confirms are sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session


@handles("confirm.select")
def select(session: Session, call: Call) -> None:
    """From now on, published messages are numbered and acknowledged."""
    if session.transaction is not None:
        session.refuse("confirm/select/transacted", "the channel is transacted")
    session.confirming = True
    if session.faulty("confirm-select-restarts-count"):
        session.published = session.confirmed = 0
    session.reply(call, "confirm.select-ok")
