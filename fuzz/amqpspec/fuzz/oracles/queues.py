"""Canaries in queues: one queue stores a message; from others messages are consumed, each on a channel of its own.

Knows: what is stored, delivered and compared. Must not know: any dialect, how a message is sent or fetched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Generic, TypeVar

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.part import PATIENCE_S, NotConsumed, who_is
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.model import Values, with_names

DELIVERY_S, _REST_S = 3.0, 0.02
"""How long a canary waits for a delivery, and behind one for what should not come."""


class QueueClient(Client, ABC):
    """A client that sends messages to queues."""

    @abstractmethod
    def publish(self, queue: str, body: bytes, channel: int = 1) -> None:
        """Send a message straight to a queue; for an inbox, on its channel. Raises HeldBack."""


C = TypeVar("C", bound=QueueClient)


class QueueCanary(ABC, Generic[C]):
    """One login's queues. Raises Unanswered.

    ``store`` is the queue that stores a message; with ``listens``, ``inboxes`` are consumed from, by their channels.
    """

    client_class: type[C]

    def __init__(self, subject: Subject, values: Values, number: int, *, listens: bool = True) -> None:
        self.who, self.number, self.listens = who_is(values), number, listens
        self.store, self.inboxes = "", dict[int, str]()
        self.expected: bytes = b""
        self.stored: bytes | None = None
        named = with_names(values, values.queue, f"amqpspec-canary-{number}")
        self.client = self.client_class(subject.address, subject.dialect, named, PATIENCE_S)
        try:
            self.settle()
        except BaseException:  # the alarm of a budget included
            self.client.close()
            raise

    @abstractmethod
    def settle(self) -> None:
        """Open channels, if the target allows this many, and make the queues. Raises Unanswered, NotConsumed."""

    @abstractmethod
    def fetched(self) -> bytes | None:
        """Take the stored message out; None if there is none. Raises Unanswered, HeldBack."""

    @abstractmethod
    def counts(self, said: Heard) -> bool:
        """Whether something is a delivery, or on a channel that asked nothing."""

    def place(self, number: int) -> None:
        """Store a message. Raises HeldBack."""
        self.expected = _token(number, self.who)
        self.client.publish(self.store, self.expected)

    def check(self, number: int) -> Iterator[Suspicion]:
        """What has become of the stored message; what came that was not sent here. Raises Unanswered, HeldBack."""
        self.stored = self.fetched()
        if self.stored != self.expected:
            yield _stored_changed(self.who, self.expected, self.stored)
        own = {channel: _token(-number, f"{self.who} {channel}") for channel in self.inboxes}
        for channel, body in own.items():
            self.client.publish(self.inboxes[channel], body, channel)
        yield from _judged(self.who, own, self.received(own))

    def received(self, own: Mapping[int, bytes]) -> list[tuple[int, bytes]]:
        """Bodies by channel after messages were sent to inboxes. Raises Unanswered, HeldBack."""
        return _delivered(self.client, own, self.counts)


@contextmanager
def consuming() -> Iterator[None]:
    """Begin to consume: what fails is only that. Raises NotConsumed."""
    try:
        yield
    except Unanswered as reason:
        raise NotConsumed(str(reason), silent=reason.silent) from reason


def _token(number: int, who: str) -> bytes:
    """A body that no one else sends, long enough to show the position of a change."""
    seed = blake2b(f"{number} {who}".encode(), digest_size=32).digest()
    return b"amqpspec canary " + seed * 8


def _stored_changed(who: str, expected: bytes, stored: bytes | None) -> Suspicion:
    """A suspicion for a stored message that was changed; None if it is gone."""
    actual = "no message" if stored is None else f"{len(stored)} octets {_around(stored, expected)}"
    detail = f"{who}: expected the {len(expected)} octets that were stored, actual {actual}"
    return Suspicion(Oracle.CANARY, "stored message changed", detail)


def _among(received: list[bytes]) -> str:
    """What arrived in place of the canary's own message."""
    return f"expected its own message once, actual {len(received)} deliveries: {[body[:24] for body in received[:3]]}"


def _around(actual: bytes, expected: bytes) -> str:
    at = next((i for i, pair in enumerate(zip(actual, expected, strict=False)) if pair[0] != pair[1]), -1)
    return f"that differ at octet {at}: {actual[at : at + 8].hex(' ')}" if at >= 0 else "(cut or grown)"


def _delivered(
    client: Client, own: Mapping[int, bytes], counts: Callable[[Heard], bool]
) -> list[tuple[int, bytes]]:
    """Bodies by channel: up to the canary's own last one and what follows at once; all of other channels."""
    received = [(said.channel, said.payload) for said in client.passed if counts(said)]
    client.passed.clear()
    left = set(own.values()) - {body for _, body in received}
    until_s = now_s() + (DELIVERY_S if left else _REST_S)
    while (said := client.next(until_s)) is not None:
        if counts(said):
            received.append((said.channel, said.payload))
            left.discard(said.payload)
            until_s = until_s if left else min(until_s, now_s() + _REST_S)
    return received


def _judged(who: str, own: Mapping[int, bytes], received: Sequence[tuple[int, bytes]]) -> Iterator[Suspicion]:
    """What was wrong with the deliveries: lost, on another channel, or someone else's."""
    for channel, body in own.items():
        here = [found for at, found in received if at == channel]
        elsewhere = [at for at, found in received if found == body and at != channel]
        if elsewhere:
            detail = f"{who}: expected a delivery on channel {channel}, actual on channel {elsewhere[0]}"
            yield Suspicion(Oracle.LEAK, "delivery on another channel", detail)
        elif body not in here:
            yield Suspicion(Oracle.CANARY, "delivery changed or lost", f"{who}: {_among(here)}")
        elif len(here) != 1:
            yield Suspicion(Oracle.LEAK, "foreign delivery", f"{who}: {_among(here)}")
    if strays := [at for at, _ in received if at not in own]:
        detail = f"{who}: expected nothing on channel {strays[0]}, actual: something arrived there"
        yield Suspicion(Oracle.LEAK, "answer on a channel that asked nothing", detail)
