"""A driver whose package answers each question by a function of one of its modules.

Knows: the questions that such drivers pass on. Must not know: any dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.executor.heard import Decode
from amqpspec.fuzz.grammar import Production, tables
from amqpspec.fuzz.interop.part import BoofuzzFacts
from amqpspec.fuzz.selftest.frames import ClientFrame
from amqpspec.fuzz.states.model import Exchange, Say, State, Step, Traces, Turn, Values
from amqpspec.fuzz.trees.tree import Node


@dataclass(frozen=True, slots=True)
class Answers:
    """The functions of a package that answer the questions of the same name; some are given the dialect's tables."""

    productions: Callable[[Any], Iterable[Production]]
    frames_of: Callable[[Any, bytes], Iterator[Node]]
    boofuzz: Callable[[Any], BoofuzzFacts]
    judge: Callable[[State, tuple[bytes, ...]], str]
    states: Callable[[], Iterator[State]]
    octets_of: Callable[[Say, Values], bytes]
    traces: Callable[[bytes], Traces]
    exchange_on: Callable[[int], Exchange]
    closing: Callable[[int], Step]
    opens_or_ends: Container[str]
    can_be_repeated: Callable[[tuple[Step, ...]], bool]
    turn_of: Callable[[str], Turn | None]
    facts: Mapping[str, str]
    decoder: Callable[[], Decode]
    frames_in: Callable[[bytes], Iterator[ClientFrame]]


class ModularDriver(FuzzDriver):
    """A driver with answers."""

    answers: Answers

    # --- grammar, judge

    def productions(self) -> Iterable[Production]:
        """What the tables lead to."""
        return self.answers.productions(tables(self.dialect_id))

    def judge(self, state: State, steps: tuple[bytes, ...]) -> str:
        """The one requirement that octets break."""
        return self.answers.judge(state, steps)

    def frames_of(self, octets: bytes) -> Iterator[Node]:
        """Recorded frames as trees."""
        return self.answers.frames_of(tables(self.dialect_id), octets)

    # --- states

    def states(self) -> Iterator[State]:
        """From the first octets to a closed connection."""
        return self.answers.states()

    def octets_of(self, say: Say, values: Values) -> bytes:
        """What one saying is on the wire."""
        return self.answers.octets_of(say, values)

    def traces(self, octets: bytes) -> Traces:
        """What octets leave behind."""
        return self.answers.traces(octets)

    def exchange_on(self, channel: int) -> Exchange:
        """A legal exchange on a channel that no one has used."""
        return self.answers.exchange_on(channel)

    def closing(self, channel: int) -> Step:
        """What closes a channel."""
        return self.answers.closing(channel)

    def opens_or_ends(self, name: str) -> bool:
        """Whether a message opens or ends a channel, or something in one."""
        return name in self.answers.opens_or_ends

    def can_be_repeated(self, steps: tuple[Step, ...]) -> bool:
        """Whether steps leave nothing behind."""
        return self.answers.can_be_repeated(steps)

    def turn_of(self, production: str) -> Turn | None:
        """What a production needs and gives."""
        return self.answers.turn_of(production)

    def facts_in(self, state: str) -> str:
        """What holds after a way."""
        return self.answers.facts.get(state, "")

    # --- what a target says, other tools, self-test

    def decoder(self) -> Decode:
        """A decoder of what a target sends."""
        return self.answers.decoder()

    def boofuzz(self) -> BoofuzzFacts:
        """What scripts for boofuzz need to know."""
        return self.answers.boofuzz(tables(self.dialect_id))

    def frames_in(self, octets: bytes) -> Iterator[ClientFrame]:
        """A client's frames."""
        return self.answers.frames_in(octets)
