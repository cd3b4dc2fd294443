"""The input of the reference agent: a scenario by name, where to connect, and the numbers of the scenario.

Knows: the shape of the order, its messages, the agent's stream. Must not know: how a dialect carries it out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from typing import Any, TypeVar

from amqpspec.net.stream import Endpoint, Stream
from amqpspec.peer.context import Login


class ScenarioError(Exception):
    """The agent's server did not do what the scenario needs, or broke the specification; the text says what."""


class UnknownScenario(Exception):
    """The agent cannot do that."""


class Violated(Exception):
    """The server broke the specification; ``code`` is what the connection is closed with, 0 for no word at all."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class AgentStream(Stream):
    """The agent's connection."""

    def note(self, text: str) -> None:
        """An agent leaves no transcript of its own."""


@dataclass(frozen=True, slots=True)
class Order:
    """One scenario for the reference agent; ``faults`` are mistakes that it makes on purpose."""

    scenario: str
    endpoint: Endpoint
    login: Login
    context: Mapping[str, Any]
    faults: Collection[str] = ()

    def faulty(self, name: str) -> bool:
        """Whether the mistake of that name is to be made."""
        return name in self.faults

    def bodies(self) -> list[bytes]:
        """The bodies of the messages, each different."""
        octets = int(self.context["octets"])
        return [bytes([65 + n % 26]) * (octets + n) for n in range(int(self.context["messages"]))]

    def large_body(self) -> bytes:
        """The body of the large message, the same in each run."""
        return random.Random(1).randbytes(int(self.context["large_octets"]))

    def dial(self) -> AgentStream:
        """A connection to the server."""
        return AgentStream(self.endpoint)


S = TypeVar("S")
Tell = Callable[[str, Mapping[str, Any]], None]
"""Prints an event: its name and its data."""
Agent = Callable[[Order, Tell], None]
"""Carries out an order; raises ScenarioError, UnknownScenario."""


def chosen(order: Order, scenarios: Mapping[str, Callable[[S], None]]) -> Callable[[S], None]:
    """The scenario that is ordered; raises UnknownScenario."""
    if order.scenario not in scenarios:
        raise UnknownScenario(order.scenario)
    return scenarios[order.scenario]


def rounds(order: Order, scenarios: Mapping[str, Callable[[S], None]]) -> Iterator[Callable[[S], None]]:
    """The scenario that is ordered, for each session that it needs: two for ``reconnect``. Raises UnknownScenario."""
    yield from repeat(chosen(order, scenarios), 2 if order.scenario == "reconnect" else 1)


def tell_delivered(tell: Tell, body: bytes) -> None:
    """Print that a message has been delivered."""
    tell("delivered", {"sha256": sha256(body).hexdigest(), "octets": len(body)})
