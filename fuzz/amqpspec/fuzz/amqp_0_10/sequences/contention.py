"""What several connections of AMQP 0-10 contend for: an exchange, or a queue, that is deleted with its last use.

Knows: the peer's verbs. Must not know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.sequences.contention import Asking
from amqpspec.fuzz.sequences.declared import Request, exchange, queue
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, PRE_ACQUIRED, Peer
from amqpspec.peer.context import Unmet
from amqpspec.spec.model import Refusal, Scope

_GONE = Refusal(Scope.SESSION, 404)


def _channel(peer: Peer) -> int:
    """The channel of the newest session: an exception ends a session."""
    return max(peer.sessions)


def _send(peer: Peer, turn: Request) -> int | None:
    command, fields = turn
    return peer.send(command, _channel(peer), sync=True, **fields)


def _reply(peer: Peer, number: int | None) -> bool:
    try:
        peer.completion(number, _channel(peer))
    except Unmet as unmet:
        if unmet.seen is None or unmet.seen.refusal != _GONE:
            raise
        return False
    return True


def _subscription(queue: str, tag: str) -> Sequence[Request]:
    subscription = {"queue": queue, "destination": tag, "accept_mode": EXPLICIT, "acquire_mode": PRE_ACQUIRED}
    return (("message.subscribe", subscription), ("message.cancel", {"destination": tag}))


ASKING: Asking[Peer, Request, int | None] = Asking(
    _send, _reply, lambda peer: peer.open_session(_channel(peer) + 1)
)
EXCHANGE = exchange("exchange.bind", "exchange.unbind", "binding_key")
QUEUE = queue(_subscription)
