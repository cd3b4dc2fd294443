"""Loads in which several connections create, use and lose one thing at the same time.

A thing that goes with its last use may be gone when another connection wants it: a 404 is correct then. Every other
refusal is not, nor is a name that cannot be used again afterwards.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from amqpspec.fuzz.sequences.shapes import Client
from amqpspec.fuzz.sequences.step import Hold, Load
from amqpspec.peer.context import Context
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.model import Refusal, Scope

_CONNECTIONS, _SHARE = 4, 20
"""How many connections contend, and how many of the things that are requested one of their turns stands for."""
_GONE = Refusal(Scope.CHANNEL, 404)

Turn = tuple[str, dict[str, Any]]
"""A method and its fields."""


@dataclass(frozen=True, slots=True)
class Contended:
    """The turns in which a connection creates, uses and leaves a thing of that name, with a queue of its own; and how
    the thing is deleted.
    """

    turns: Callable[[str, str], Sequence[Turn]]
    delete: Callable[[str], Turn]


@dataclass(slots=True)
class _Party:
    """A connection and its next turn; a negative one is waited for."""

    peer: Peer
    turns: Sequence[Turn]
    at: int

    def ask(self) -> None:
        """Send the request of its turn."""
        if self.at >= 0:
            method, fields = self.turns[self.at]
            self.peer.send(method, **fields)

    def answer(self) -> None:
        """Take the reply; after a refusal because the thing is gone, begin again on a new channel. Raises Unmet."""
        if self.at < 0:
            self.at += 1
            return
        replies = self.peer.dialect.methods[self.turns[self.at][0]].replies
        arrival = self.peer.arrival(*replies)
        if isinstance(arrival, MethodArrived) and arrival.refusal == _GONE:
            self.peer.call("channel.open")
            self.at = 0
        else:
            self.peer.expected(arrival, *replies)
            self.at = (self.at + 1) % len(self.turns)


def contended(client: Client[Peer], what: Contended) -> Load:
    """Connections take their turns together, each one turn behind the one before."""

    def load(context: Context, count: int, hold: Hold) -> None:
        with ExitStack() as stack:
            peers = [stack.enter_context(client.at_work(context)) for _ in range(_CONNECTIONS)]
            name = peers[0].name("contended")
            parties = [_Party(peer, what.turns(name, peer.queue()), -at) for at, peer in enumerate(peers)]
            for _ in range(max(len(parties), count // _SHARE)):
                for party in parties:
                    party.ask()
                for party in parties:
                    party.answer()
            hold(0)
            _use_again(peers[0], what, name, parties[0].turns[0])

    return load


def _use_again(peer: Peer, what: Contended, name: str, create: Turn) -> None:
    """The name is free, or stands for a thing like the first one. Raises Unmet."""
    for method, fields in (create, what.delete(name)):
        peer.call(method, **fields)


def _exchange(name: str, queue: str) -> Sequence[Turn]:
    binding = {"queue": queue, "exchange": name, "routing_key": queue}
    return (
        ("exchange.declare", {"exchange": name, "type": "direct", "auto_delete": True}),
        ("queue.bind", binding),
        ("queue.unbind", binding),
    )


def _queue(name: str, queue: str) -> Sequence[Turn]:
    return (
        ("queue.declare", {"queue": name, "auto_delete": True}),
        ("basic.consume", {"queue": name, "consumer_tag": queue}),
        ("basic.cancel", {"consumer_tag": queue}),
    )


EXCHANGES = Contended(_exchange, lambda name: ("exchange.delete", {"exchange": name}))
QUEUES = Contended(_queue, lambda name: ("queue.delete", {"queue": name}))
