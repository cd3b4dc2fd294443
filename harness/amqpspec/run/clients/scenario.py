"""What the reference agent is told: a scenario by name, where to connect, and the numbers of the scenario.

Knows: the shape of the order. Must not know: how a dialect carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login


class ScenarioError(Exception):
    """The agent's server did not do what the scenario needs, or broke the specification; the text says what."""


class UnknownScenario(Exception):
    """The agent cannot do that."""


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


Tell = Callable[[str, Mapping[str, Any]], None]
"""Prints an event: its name and its data."""
Agent = Callable[[Order, Tell], None]
"""Carries out an order; raises ScenarioError, UnknownScenario."""
