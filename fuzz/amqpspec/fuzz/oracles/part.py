"""What the oracles ask a driver: a login's canaries, or another way to see that messages stay as they are.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, cast

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.suspicion import Suspicion
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import Values

PATIENCE_S = 10.0
"""How long a canary waits for an answer."""


class NotConsumed(Unanswered):
    """A queue cannot be consumed from."""


class HeldBack(Unanswered):
    """The target said that it holds back what publishers send: messages may be on their way, nothing is lost."""


class Canary(Protocol):
    """The messages of one login: one that is stored while inputs run, and deliveries to its own consumers."""

    @property
    def client(self) -> Client:
        """Its connection."""
        ...

    def place(self, number: int) -> None:
        """Store a message before a batch. Raises Unanswered."""
        ...

    def check(self, number: int) -> Iterator[Suspicion]:
        """What happened to the stored message, and what arrived that was not sent here. Raises Unanswered, HeldBack."""
        ...


class OraclesPart(Part, Protocol):
    """How the oracles observe a target of a dialect.

    ``echo`` is for a target on which no login can open a canary: the state into which a message returns, and the
    octets that it holds.
    """

    echo: tuple[str, bytes] | None = None
    has_canaries: bool = False

    def echo_client(self, subject: Subject, values: Values) -> Client:
        """A client that goes into the state of ``echo``. Raises Unanswered; so does the client, and HeldBack."""
        return Client(subject.address, subject.dialect, values, PATIENCE_S)

    def canary(self, subject: Subject, values: Values, number: int, *, listens: bool) -> Canary:
        """Open the canary of a login under a number that no other has had. Raises Unanswered.

        Without ``listens``, it consumes nothing; NotConsumed says that the target refuses only that.
        """
        raise NotImplementedError


def oracles_part(dialect_id: str) -> OraclesPart:
    """What a dialect's driver says about canaries."""
    return cast(OraclesPart, loaded_driver(dialect_id))


def who_is(values: Values) -> str:
    """A description of a login."""
    return f"{values.user} at {values.vhost}"
