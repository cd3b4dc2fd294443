"""What the oracles ask a driver: a login's canaries, or another way to see that messages stay as they are.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol, cast

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import Values

PATIENCE_S = 10.0
"""How long a canary waits for an answer."""
DELIVERY_S, REST_S = 3.0, 0.02
"""How long it waits for a delivery, and behind one for what should not come."""


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


def token(number: int, who: str) -> bytes:
    """A body that no one else sends, long enough to show the position of a change."""
    seed = blake2b(f"{number} {who}".encode(), digest_size=32).digest()
    return b"amqpspec canary " + seed * 8


def stored_changed(who: str, expected: bytes, stored: bytes | None) -> Suspicion:
    """A suspicion for a stored message that was changed; None if it is gone."""
    actual = "no message" if stored is None else f"{len(stored)} octets {_around(stored, expected)}"
    detail = f"{who}: expected the {len(expected)} octets that were stored, actual {actual}"
    return Suspicion(Oracle.CANARY, "stored message changed", detail)


def among(received: list[bytes]) -> str:
    """What arrived in place of the canary's own message."""
    return f"expected its own message once, actual {len(received)} deliveries: {[body[:24] for body in received[:3]]}"


def _around(actual: bytes, expected: bytes) -> str:
    at = next((i for i, pair in enumerate(zip(actual, expected, strict=False)) if pair[0] != pair[1]), -1)
    return f"that differ at octet {at}: {actual[at : at + 8].hex(' ')}" if at >= 0 else "(cut or grown)"


# --- canaries whose messages come on channels


def delivered(
    client: Client, own: Mapping[int, bytes], counts: Callable[[Heard], bool]
) -> list[tuple[int, bytes]]:
    """Bodies by channel: up to the canary's own last one and what follows at once; all of other channels."""
    received = [(said.channel, said.payload) for said in client.passed if counts(said)]
    client.passed.clear()
    left = set(own.values()) - {body for _, body in received}
    until_s = now_s() + (DELIVERY_S if left else REST_S)
    while (said := client.next(until_s)) is not None:
        if counts(said):
            received.append((said.channel, said.payload))
            left.discard(said.payload)
            until_s = until_s if left else min(until_s, now_s() + REST_S)
    return received


def judged(who: str, own: Mapping[int, bytes], received: Sequence[tuple[int, bytes]]) -> Iterator[Suspicion]:
    """What was wrong with the deliveries: lost, on another channel, or someone else's."""
    for channel, body in own.items():
        here = [found for at, found in received if at == channel]
        elsewhere = [at for at, found in received if found == body and at != channel]
        if elsewhere:
            detail = f"{who}: expected a delivery on channel {channel}, actual on channel {elsewhere[0]}"
            yield Suspicion(Oracle.LEAK, "delivery on another channel", detail)
        elif body not in here:
            yield Suspicion(Oracle.CANARY, "delivery changed or lost", f"{who}: {among(here)}")
        elif len(here) != 1:
            yield Suspicion(Oracle.LEAK, "foreign delivery", f"{who}: {among(here)}")
    if strays := [at for at, _ in received if at not in own]:
        detail = f"{who}: expected nothing on channel {strays[0]}, actual: something arrived there"
        yield Suspicion(Oracle.LEAK, "answer on a channel that asked nothing", detail)
