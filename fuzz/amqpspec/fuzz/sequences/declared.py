"""What several connections contend for where 0-9 and 0-10 agree: an exchange, or a queue, that goes with its last use.

Knows: the requests that are the same in both. Must not know: how a request is sent, whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from amqpspec.fuzz.sequences.contention import Contended


class Declaring(Protocol):
    """The verbs of a peer."""

    def name(self, hint: str = "x") -> str:
        """A unique name."""
        ...

    def queue(self) -> str:
        """Declare a queue; returns its name."""
        ...


Request = tuple[str, Mapping[str, Any]]
"""A method or command, and its fields."""


def _name(peer: Declaring) -> str:
    return peer.name("contended")


def exchange(bind: str, unbind: str, key: str) -> Contended[Any, Request]:
    """An auto-delete exchange to which each connection binds a queue; ``key`` is the field of the routing key."""

    def create(name: str) -> Request:
        return ("exchange.declare", {"exchange": name, "type": "direct", "auto_delete": True})

    def turns(peer: Declaring, name: str) -> Sequence[Request]:
        queue = peer.queue()
        binding = {"queue": queue, "exchange": name, key: queue}
        return (create(name), (bind, binding), (unbind, binding))

    def last(peer: Declaring, name: str) -> Sequence[Request]:
        return (create(name), ("exchange.delete", {"exchange": name}))

    return Contended(_name, turns, last)


def queue(use: Callable[[str, str], Sequence[Request]]) -> Contended[Any, Request]:
    """An auto-delete queue; ``use`` makes the requests that begin and end a use of it, by its name and a tag."""

    def create(name: str) -> Request:
        return ("queue.declare", {"queue": name, "auto_delete": True})

    def turns(peer: Declaring, name: str) -> Sequence[Request]:
        return (create(name), *use(name, peer.name("tag")))

    def last(peer: Declaring, name: str) -> Sequence[Request]:
        return (create(name), ("queue.delete", {"queue": name}))

    return Contended(_name, turns, last)
