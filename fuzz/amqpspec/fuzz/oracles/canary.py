"""Canaries: messages that lie in queues of one's own while inputs are run, and consumers that must hear nothing else.

Knows: what was put where. Must not know: inputs, processes.

For each login there is one connection, with a queue that stores a message over the batch and two queues that are
consumed from, each on a channel of its own; all are exclusive. On one more channel nothing is ever asked. A stored
message that has changed is a canary; a delivery that was not sent there, or came on another channel, is a leak.
What a target does not bear when the campaign begins, is gone on without; ``Canaries.note`` says what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

from amqpspec.fuzz.amqp_1_0.cage import TypedCage
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.hearing import Heard
from amqpspec.fuzz.executor.loop import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.ways import Values

_PATIENCE_S = 10.0
_DELIVERY_S, _REST_S = 3.0, 0.02
_FIRST, _SECOND, _QUIET = 1, 2, 3
"""Channels of a cage: the last one hears nothing."""
_TYPED_BODY = b"amqpspec"


def _token(number: int, who: str) -> bytes:
    """A body that nobody else sends, long enough to show where it was bent."""
    seed = blake2b(f"{number} {who}".encode(), digest_size=32).digest()
    return b"amqpspec canary " + seed * 8


class _NotConsumed(Unanswered):
    """A queue cannot be consumed from."""


class _Cage:
    """One login's queues; with ``listens``, two of them are consumed from. Raises Unanswered."""

    def __init__(self, subject: Subject, values: Values, number: int, *, listens: bool = True) -> None:
        self.who = _who(values)
        self.store = f"amqpspec.canary.{number}.s"
        self.inboxes = {_FIRST: f"amqpspec.canary.{number}.i"} if listens else {}
        self.expected = b""
        self.client = Client(subject.address, subject.dialect, values, _PATIENCE_S)
        try:
            self._settle()
        except Unanswered:
            self.client.close()
            raise

    def _settle(self) -> None:
        """Open the channels, where the target allows so many, and the queues."""
        client = self.client
        client.enter("channel")
        if client.values.channel_max >= _QUIET:
            if self.inboxes:
                self.inboxes[_SECOND] = f"{self.inboxes[_FIRST]}2"
            for channel in (_SECOND, _QUIET):
                client.say("channel.open", channel)
                client.wait("channel.open-ok")
        for channel, queue in ((_FIRST, self.store), *self.inboxes.items()):
            client.say("queue.declare", channel, queue=queue, exclusive=True)
            client.wait("queue.declare-ok")
        for channel, queue in self.inboxes.items():
            self._consume(channel, queue)

    def _consume(self, channel: int, queue: str) -> None:
        try:
            self.client.say("basic.consume", channel, queue=queue, no_ack=True)
            self.client.wait("basic.consume-ok")
        except Unanswered as told:
            raise _NotConsumed(str(told), silent=told.silent) from told

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
        own = {channel: _token(-number, f"{self.who} {channel}") for channel in self.inboxes}
        for channel, body in own.items():
            self.client.publish(self.inboxes[channel], body, channel)
        yield from self._judged(own, self._delivered(own))

    def _judged(self, own: Mapping[int, bytes], came: Sequence[tuple[int, bytes]]) -> Iterator[Suspicion]:
        """What was wrong with the deliveries: lost, on another channel, or of somebody else."""
        for channel, body in own.items():
            here = [found for at, found in came if at == channel]
            elsewhere = [at for at, found in came if found == body and at != channel]
            if elsewhere:
                detail = (
                    f"{self.who}: expected a delivery on channel {channel}, actual on channel {elsewhere[0]}"
                )
                yield Suspicion(Oracle.LEAK, "delivery on another channel", detail)
            elif body not in here:
                yield Suspicion(Oracle.CANARY, "delivery changed or lost", f"{self.who}: {_among(here)}")
            elif len(here) != 1:
                yield Suspicion(Oracle.LEAK, "foreign delivery", f"{self.who}: {_among(here)}")
        if astray := [at for at, _ in came if at not in own]:
            detail = f"{self.who}: expected nothing on channel {astray[0]}, actual: something came there"
            yield Suspicion(Oracle.LEAK, "answer on a channel that asked nothing", detail)

    def _delivered(self, own: Mapping[int, bytes]) -> list[tuple[int, bytes]]:
        """Bodies by their channels: up to all of one's own, and what comes right behind them; all of other channels."""
        came = [(said.channel, said.payload) for said in self.client.passed if self._counts(said)]
        self.client.passed.clear()
        left = set(own.values())
        until_s = now_s() + (_DELIVERY_S if left else _REST_S)
        while (said := self.client.next(until_s)) is not None:
            if self._counts(said):
                came.append((said.channel, said.payload))
                left.discard(said.payload)
                until_s = until_s if left else min(until_s, now_s() + _REST_S)
        return came

    def _counts(self, said: Heard) -> bool:
        return said.name == "content body" or said.channel not in (0, _FIRST, *self.inboxes)


def _who(values: Values) -> str:
    return f"{values.user} at {values.vhost}"


def _among(came: list[bytes]) -> str:
    return f"expected its own message once, actual {len(came)} deliveries: {[body[:24] for body in came[:3]]}"


def _around(actual: bytes, expected: bytes) -> str:
    at = next((i for i, pair in enumerate(zip(actual, expected, strict=False)) if pair[0] != pair[1]), -1)
    return f"that differ at octet {at}: {actual[at : at + 8].hex(' ')}" if at >= 0 else "(cut or grown)"


class Canaries:
    """All cages of a target; opened when first needed, and anew after a restart.

    ``off`` says why nothing is asked; ``note``, what is gone on without, since the target did not bear it at first.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._deaf: set[str] = set()
        self._begun = False
        self.note = ""
        self._cages: list[_Cage | TypedCage] = []
        self._through_only = False
        self._number = self._opened = 0
        self.off = ""

    def place(self) -> None:
        """Before a batch. Raises Unanswered."""
        self._number += 1
        if self.off or self._through_only:
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
            if self._through_only:
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
            with suppress(Unanswered):
                self._cages.append(self._cage(values))
        if not self._cages:
            self._without_cages()
        self._begun = True

    def _without_cages(self) -> None:
        if self._subject.is_methods:
            raise Unanswered("no login of the target could open queues for canaries")
        self._subject.greet(_PATIENCE_S)
        self._through_only = True
        if not self._begun:
            self._try_through()

    def _cage(self, values: Values) -> _Cage | TypedCage:
        """One login's cage; without its inboxes where they could not be consumed from at first. Raises Unanswered."""
        if not self._subject.is_methods:
            return TypedCage(self._subject, values, self._next)
        who = _who(values)
        try:
            return _Cage(self._subject, values, self._next, listens=who not in self._deaf)
        except _NotConsumed as told:
            if self._begun:
                raise
            cage = _Cage(self._subject, values, self._next, listens=False)
            self._deaf.add(who)
            logins = ", ".join(sorted(self._deaf))
            self.note = (
                f"canaries without deliveries: {logins} cannot consume from a queue of their own: {told}"
            )
            return cage

    @property
    def _next(self) -> int:
        """The number of a cage that no other one has had."""
        self._opened += 1
        return (id(self) & 0xFFFF) << 16 | self._opened

    def _try_through(self) -> None:
        """A target that does not pass a message of a canary's own before there was an input will not do so later."""
        try:
            told = next((found.detail for found in self._through()), "")
        except Unanswered as unanswered:
            told = str(unanswered)
        if told:
            self.off = self.note = f"no canaries: the target passes no message of theirs: {told}"

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
