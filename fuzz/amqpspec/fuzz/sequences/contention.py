"""Loads in which several connections create, use and lose one thing at the same time.

A thing that goes with its last use may be gone when another connection wants it: a refusal that says so is correct
then. Every other refusal is not, nor is a name that cannot be used again afterwards.

Knows: whose turn it is. Must not know: any dialect, repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Generic, TypeVar

from amqpspec.fuzz.sequences.shapes import Client
from amqpspec.fuzz.sequences.step import Hold, Load
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.line import Line

P = TypeVar("P", bound=Line)
T = TypeVar("T")
R = TypeVar("R")

_CONNECTIONS, _SHARE = 4, 20
"""How many connections contend, and how many of the things that are requested one of their turns stands for."""


@dataclass(frozen=True, slots=True)
class Asking(Generic[P, T, R]):
    """How a turn is taken: a request is sent, then its reply is received, which is false if the thing is gone.

    ``again`` restores what such a refusal has ended. Replies raise Unmet.
    """

    send: Callable[[P, T], R]
    reply: Callable[[P, R], bool]
    again: Callable[[P], object] = lambda peer: None


@dataclass(frozen=True, slots=True)
class Contended(Generic[P, T]):
    """The name of the thing; the turns in which a connection creates, uses and leaves it; the last turns of all."""

    name: Callable[[P], str]
    turns: Callable[[P, str], Sequence[T]]
    last: Callable[[P, str], Sequence[T]]


@dataclass(slots=True)
class _Party(Generic[P, T, R]):
    """A connection and its next turn; a negative one is waited for."""

    peer: P
    asking: Asking[P, T, R]
    turns: Sequence[T]
    at: int
    asked: R | None = None

    def ask(self) -> None:
        """Send the request of its turn."""
        if self.at >= 0:
            self.asked = self.asking.send(self.peer, self.turns[self.at])

    def answer(self) -> None:
        """Receive the reply; if the thing is gone, begin again. Raises Unmet."""
        if self.asked is None:
            self.at += 1
        elif self.asking.reply(self.peer, self.asked):
            self.at = (self.at + 1) % len(self.turns)
        else:
            self.asking.again(self.peer)
            self.at = 0

    def leave(self) -> None:
        """Take the turns that are left of a round. Raises Unmet."""
        while self.at > 0:
            self.ask()
            self.answer()


def contended(client: Client[P], asking: Asking[P, T, R], what: Contended[P, T]) -> Load:
    """Connections take their turns together, each one turn behind the one before."""

    def load(context: Context, count: int, hold: Hold) -> None:
        with ExitStack() as stack:
            peers = [stack.enter_context(client.at_work(context)) for _ in range(_CONNECTIONS)]
            name = what.name(peers[0])
            parties = [_Party(peer, asking, what.turns(peer, name), -at) for at, peer in enumerate(peers)]
            for _ in range(max(len(parties), count // _SHARE)):
                for party in parties:
                    party.ask()
                for party in parties:
                    party.answer()
            hold(0)
            for party in parties:
                party.leave()
            for turn in what.last(peers[0], name):
                if not asking.reply(peers[0], asking.send(peers[0], turn)):
                    raise Unmet(f"{name} to be usable again", "a refusal because it does not exist")

    return load
