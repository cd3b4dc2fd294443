"""The access class: request.

Knows: which realms exist, and that a ticket is valid on the channel on which it was granted. Must not know: which
methods need a ticket. There is one realm of data, which is open to everyone, also without a ticket; only a ticket
that was not granted is refused.
"""

from __future__ import annotations

from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call

_REALMS = ("/data", "/admin")
_ACCESS_REFUSED = 403


@handles("access.request")
def request(channel: Channel, call: Call) -> None:
    """A client asks for a ticket."""
    if not _is_realm(call["realm"]):
        channel.connection.close(_ACCESS_REFUSED, f"{call['realm']!r} is no realm")
        return
    channel.tickets.add(len(channel.tickets) + 1)
    channel.send("access.request-ok", ticket=len(channel.tickets))


def _is_realm(name: str) -> bool:
    return any(name == realm or name.startswith(f"{realm}/") for realm in _REALMS)


def shows_good_ticket(channel: Channel, call: Call) -> bool:
    """Whether a call shows no ticket, or one that its channel was granted; tells the client if it does not."""
    ticket = call.args.get("ticket", 0)
    if not ticket or ticket in channel.tickets:
        return True
    channel.connection.close(_ACCESS_REFUSED, f"ticket {ticket} was not granted on channel {channel.number}")
    return False
