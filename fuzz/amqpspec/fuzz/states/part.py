"""What the rooms ask a driver about states: ways into them, ways back, what may follow, what octets leave behind.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import (
    BROKEN,
    Exchange,
    HandshakeRules,
    Say,
    State,
    Step,
    Traces,
    Turn,
    Values,
)


class StatesPart(Part, Protocol):
    """The states of a dialect.

    ``mechanisms`` are those of one response, by which a way can log in; ``first_channel`` is the channel that ways use;
    ``handshake`` says how a conversation may legally continue; ``turns`` are the productions that take part in
    sequences, and ``facts`` words for what holds at the end of a state's own way.
    """

    mechanisms: tuple[str, ...] = ("PLAIN",)
    first_channel: int = 0
    handshake: HandshakeRules = HandshakeRules()
    turns: Mapping[str, Turn] = MappingProxyType({})
    facts: Mapping[str, str] = MappingProxyType({})

    def states(self) -> Iterable[State]:
        """Every state in the order of a conversation; the first one is called ``raw``, nothing has been sent in it."""
        ...

    def octets_of(self, say: Say, values: Values) -> bytes:
        """What one saying is on the wire, its slots filled in."""
        ...

    def way_for(self, steps: tuple[Step, ...], mechanism: str) -> tuple[Step, ...]:
        """The steps of a way for a login by a mechanism."""
        return steps

    # --- what may follow an input

    def traces(self, octets: bytes) -> Traces:
        """What the octets of an input leave behind, as far as they can be read."""
        return BROKEN

    def exchange_on(self, channel: int) -> Exchange:
        """A legal exchange on a channel that no one has used."""
        return Exchange()

    def farewell(self, channel: int) -> Step:
        """What is due to a target that has closed a channel."""
        return Step(())

    # --- the way back

    def closing(self, channel: int) -> Step:
        """What closes a channel, and the answer to it."""
        return Step(())

    def opens_or_ends(self, name: str) -> bool:
        """Whether a message opens or ends a channel, or something in one."""
        return True

    def can_be_repeated(self, steps: tuple[Step, ...]) -> bool:
        """Whether steps after the opening of a connection may be gone again on it."""
        return False

    # --- sequences

    def turn_of(self, production: str) -> Turn | None:
        """What a production needs and gives in a sequence; None for one that takes part in none."""
        return self.turns.get(production)

    def facts_in(self, state: str) -> str:
        """What holds at the end of a state's own way, as words."""
        return self.facts.get(state, "")


def states_part(dialect_id: str) -> StatesPart:
    """What a dialect's driver says about states."""
    return cast(StatesPart, loaded_driver(dialect_id))
