"""What several connections of AMQP 0-10 contend for: an exchange, or a queue, that is deleted with its last use.

Knows: the peer's verbs. Must not know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.fuzz.sequences.contention import Asking, Contended
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, PRE_ACQUIRED, Peer
from amqpspec.peer.context import Unmet
from amqpspec.spec.model import Refusal, Scope

_GONE = Refusal(Scope.SESSION, 404)

Turn = tuple[str, Mapping[str, Any]]
"""A command and its fields."""


def _channel(peer: Peer) -> int:
    """The channel of the newest session: an exception ends a session."""
    return max(peer.sessions)


def _send(peer: Peer, turn: Turn) -> int | None:
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


def _again(peer: Peer) -> None:
    peer.open_session(_channel(peer) + 1)


def _contended(peer: Peer) -> str:
    return peer.name("contended")


def _create_exchange(name: str) -> Turn:
    return ("exchange.declare", {"exchange": name, "type": "direct", "auto_delete": True})


def _exchange(peer: Peer, name: str) -> Sequence[Turn]:
    queue = peer.queue()
    binding = {"exchange": name, "queue": queue, "binding_key": queue}
    return (_create_exchange(name), ("exchange.bind", binding), ("exchange.unbind", binding))


def _end_exchange(peer: Peer, name: str) -> Sequence[Turn]:
    return (_create_exchange(name), ("exchange.delete", {"exchange": name}))


def _create_queue(name: str) -> Turn:
    return ("queue.declare", {"queue": name, "auto_delete": True})


def _queue(peer: Peer, name: str) -> Sequence[Turn]:
    tag = peer.name("d")
    subscription = {"queue": name, "destination": tag, "accept_mode": EXPLICIT, "acquire_mode": PRE_ACQUIRED}
    return (
        _create_queue(name),
        ("message.subscribe", subscription),
        ("message.cancel", {"destination": tag}),
    )


def _end_queue(peer: Peer, name: str) -> Sequence[Turn]:
    return (_create_queue(name), ("queue.delete", {"queue": name}))


ASKING: Asking[Peer, Turn, int | None] = Asking(_send, _reply, _again)
EXCHANGE: Contended[Peer, Turn] = Contended(_contended, _exchange, _end_exchange)
QUEUE: Contended[Peer, Turn] = Contended(_contended, _queue, _end_queue)
