"""Canaries: messages that lie in queues of one's own while inputs are run, and consumers that must hear nothing else.

Knows: what was put where. Must not know: inputs, processes.

For each login there is one connection, with a queue that stores a message over the batch and a queue that is consumed
from; both are exclusive. A stored message that has changed is a canary; a delivery that was not sent there, a leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

from fuzz.executor.client import Client, Unanswered
from fuzz.executor.loop import now_s
from fuzz.executor.subject import Subject
from fuzz.oracles.suspicion import Oracle, Suspicion
from fuzz.states import Values

_PATIENCE_S = 10.0
_DELIVERY_S, _QUIET_S = 3.0, 0.02
_TYPED_BODY = b"amqpspec"


def _token(number: int, who: str) -> bytes:
    """A body that nobody else sends, long enough to show where it was bent."""
    seed = blake2b(f"{number} {who}".encode(), digest_size=32).digest()
    return b"amqpspec canary " + seed * 8


class _Cage:
    """One login's queues. Raises Unanswered."""

    def __init__(self, subject: Subject, values: Values, number: int) -> None:
        self.who = f"{values.user} at {values.vhost}"
        self.store, self.inbox = f"amqpspec.canary.{number}.s", f"amqpspec.canary.{number}.i"
        self.expected = b""
        self.client = Client(subject.address, subject.dialect, values, _PATIENCE_S)
        self.client.enter("channel")
        for queue in (self.store, self.inbox):
            self.client.say("queue.declare", queue=queue, exclusive=True)
            self.client.wait("queue.declare-ok")
        self.client.say("basic.consume", queue=self.inbox, no_ack=True)
        self.client.wait("basic.consume-ok")

    def place(self, number: int) -> None:
        """Store a message."""
        self.expected = _token(number, self.who)
        self.client.publish(self.store, self.expected)

    def check(self, number: int) -> Iterator[Suspicion]:
        """What has become of the stored message; what came that was not sent here."""
        stored = self.client.get(self.store)
        if stored != self.expected:
            actual = (
                "no message" if stored is None else f"{len(stored)} octets {_around(stored, self.expected)}"
            )
            yield Suspicion(
                Oracle.CANARY, "stored message changed",
                f"{self.who}: expected the {len(self.expected)} octets that were stored, actual {actual}",
            )  # fmt: skip
        own = _token(-number, self.who)
        self.client.publish(self.inbox, own)
        came = self._delivered(own)
        if own not in came:
            yield Suspicion(Oracle.CANARY, "delivery changed or lost", f"{self.who}: {_among(came)}")
        elif len(came) != 1:
            yield Suspicion(Oracle.LEAK, "foreign delivery", f"{self.who}: {_among(came)}")

    def _delivered(self, own: bytes) -> list[bytes]:
        """Bodies that were delivered: up to one's own, and what comes right behind it."""
        came = [said.payload for said in self.client.passed if said.name == "content body"]
        self.client.passed.clear()
        until_s = now_s() + _DELIVERY_S
        while (said := self.client.next(until_s)) is not None:
            if said.name == "content body":
                came.append(said.payload)
                if said.payload == own:
                    until_s = now_s() + _QUIET_S
        return came


def _among(came: list[bytes]) -> str:
    return f"expected its own message once, actual {len(came)} deliveries: {[body[:24] for body in came[:3]]}"


def _around(actual: bytes, expected: bytes) -> str:
    at = next((i for i, pair in enumerate(zip(actual, expected, strict=False)) if pair[0] != pair[1]), -1)
    return f"that differ at octet {at}: {actual[at : at + 8].hex(' ')}" if at >= 0 else "(cut or grown)"


class Canaries:
    """All cages of a target; opened when first needed, and anew after a restart."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._cages: list[_Cage] = []
        self._number = self._opened = 0
        self.off = ""

    def place(self) -> None:
        """Before a batch. Raises Unanswered."""
        self._number += 1
        if self.off or not self._subject.is_methods:
            return
        if not self._cages:
            self._open()
        try:
            for cage in self._cages:
                cage.place(self._number)
        except Unanswered:
            self.drop()
            raise

    def check(self) -> list[Suspicion]:
        """After a batch. Raises Unanswered."""
        if self.off:
            return []
        try:
            if not self._subject.is_methods:
                return list(self._through())
            return [s for cage in self._cages for s in cage.check(self._number)]
        except Unanswered:
            self.drop()
            raise

    def drop(self) -> None:
        """Hang up."""
        for cage in self._cages:
            cage.client.close()
        self._cages.clear()

    def _open(self) -> None:
        for values in (self._subject.values, *self._subject.others):
            self._opened += 1
            number = (id(self) & 0xFFFF) << 16 | self._opened
            with suppress(Unanswered):
                self._cages.append(_Cage(self._subject, values, number))
        if not self._cages:
            raise Unanswered("no login of the target could open queues for canaries")

    def _through(self) -> Iterator[Suspicion]:
        """A message through a queue and back, on a connection of its own."""
        subject = self._subject
        values = replace(
            subject.values, queue=f"{subject.values.queue}.canary", container=f"amqpspec-canary-{now_s()}"
        )
        with Client(subject.address, subject.dialect, values, _PATIENCE_S) as client:
            said = client.enter("consuming")
            if said is None or _TYPED_BODY not in said.payload:
                actual = b"" if said is None else said.payload
                yield Suspicion(
                    Oracle.CANARY, "message changed",
                    f"expected a message that holds {_TYPED_BODY!r}, actual {actual[:64]!r}",
                )  # fmt: skip
