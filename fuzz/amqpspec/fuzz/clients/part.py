"""What fuzzing clients asks a driver: where a server's frames can be bent.

Knows: the question. Must not know: any dialect's answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import State


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A place of a scenario: after the server's frame named ``after`` it may continue with ``next``.

    ``in_place``: what is bent comes in place of that frame, else after it.
    """

    name: str
    after: str
    scenario: str
    next: tuple[str, ...]
    in_place: bool = False

    @property
    def state(self) -> State:
        """The place as the families know one."""
        return State(self.name, (), self.next)


def instead(name: str, after: str, scenario: str, *productions: str) -> ServerPlace:
    """A place in which productions come in place of a frame of the server."""
    return ServerPlace(name, after, scenario, productions, in_place=True)


class ClientsPart(Part, Protocol):
    """Where clients of a dialect can be fuzzed; no place by default.

    ``client_families`` are those that bend what servers send.
    """

    client_families: tuple[str, ...] = ("C02", "C03", "C04", "C09", "C11")

    def server_places(self) -> Iterable[ServerPlace]:
        """The places, in the order of a conversation."""
        return ()

    def fitted(self, frame: bytes, step: bytes) -> bytes:
        """A step as it is sent with a frame of the server's, for example on its channel."""
        return step


def client_families(dialect_id: str) -> tuple[str, ...]:
    """The families that bend what servers of a dialect send."""
    return cast(ClientsPart, loaded_driver(dialect_id)).client_families


def fitted(dialect_id: str, frame: bytes, step: bytes) -> bytes:
    """A step of an input, adapted to the frame with which it is sent."""
    return cast(ClientsPart, loaded_driver(dialect_id)).fitted(frame, step)


def server_places(dialect_id: str) -> dict[str, ServerPlace]:
    """The places of a dialect by name."""
    part = cast(ClientsPart, loaded_driver(dialect_id))
    return {place.name: place for place in part.server_places()}
