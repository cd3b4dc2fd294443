"""Canaries: messages stored in private queues while inputs run, and consumers that must receive nothing else.

Knows: logins, what is gone on without. Must not know: inputs, processes, how a dialect stores a message.

For each login there is one connection. A stored message that has changed is a canary; a delivery that was not sent
there, or came on another channel, is a leak. What a target does not bear when the campaign begins, is gone on without;
``Canaries.note`` says what.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.part import PATIENCE_S, Canary, HeldBack, NotConsumed, oracles_part, who_is
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.model import Values

_TRIES = 8
"""How many batches a target may hold back the first canaries before the campaign does without them."""


class Canaries:
    """The canaries of all logins of a target; opened when first needed, and again after a restart.

    ``off`` says why canaries are not used; ``note`` says what the oracles do without because the target did not
    support it at first, and whether canaries were left unchecked later. ``held_back``: the last check was not made.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._deaf: set[str] = set()
        self._begun = False
        self.note = ""
        self.held_back = False
        self._canaries: list[Canary] = []
        self._through_only = False
        self._number = self._opened = 0
        self._tries_left = _TRIES
        self._part = oracles_part(subject.dialect)
        self.off = "" if self._part.has_canaries else "the dialect has no canaries"

    def place(self) -> None:
        """Store the messages before a batch. Raises Unanswered."""
        self._number += 1
        if self.off or self._through_only:
            return
        try:
            if not self._canaries:
                self._open()
            for canary in self._canaries:
                canary.place(self._number)
        except HeldBack as reason:
            self._unchecked(reason)
        except Unanswered:
            self.drop()
            raise

    def check(self) -> list[Suspicion]:
        """Check the messages after a batch. Raises Unanswered."""
        self.held_back = False
        if self.off:
            return []
        try:
            if self._through_only:
                return list(self._through())
            return list(chain.from_iterable(self._asked()))
        except HeldBack as reason:
            self._unchecked(reason)
            return []
        except Unanswered:
            self.drop()
            raise

    def _unchecked(self, reason: HeldBack) -> None:
        """Note that the target holds back what was sent."""
        self.drop()
        self.held_back = True
        unchecked = f"not all canaries were checked: {reason}"
        if unchecked not in self.note:
            self.note = "; ".join(filter(None, (self.note, unchecked)))

    def _asked(self) -> list[list[Suspicion]]:
        """Ask all canaries at once: most of the time, each only waits to see that nothing else arrives."""
        with ThreadPoolExecutor(len(self._canaries) or 1) as pool:
            return list(pool.map(lambda canary: list(canary.check(self._number)), self._canaries))

    def drop(self) -> None:
        """Close their connections."""
        for canary in self._canaries:
            canary.client.close()
        self._canaries.clear()

    def _open(self) -> None:
        reasons: list[Unanswered] = []
        for values in (self._subject.values, *self._subject.others):
            try:
                self._canaries.append(self._canary(values))
            except Unanswered as reason:
                if isinstance(reason, HeldBack) and (self._begun or self._tries_left):
                    self._tries_left -= not self._begun
                    raise
                reasons.append(reason)  # a login that cannot open queues has no canary
        if not self._canaries:
            self._without_canaries(reasons[0])
        self._begun = True

    def _without_canaries(self, reason: Unanswered) -> None:
        """Send a message per batch through a queue, if no login could ever open its own. Raises Unanswered."""
        if self._begun or self._part.echo is None:
            raise Unanswered(
                f"no login of the target could open queues for canaries: {reason}",
                refused_connect=reason.refused_connect, silent=reason.silent, refused=reason.refused,
            ) from reason  # fmt: skip
        self._subject.greet(PATIENCE_S)
        self._through_only = True
        self._try_through()

    def _canary(self, values: Values) -> Canary:
        """Open the canary of a login, without its inboxes if they could not be consumed from at first. Raises
        Unanswered.
        """
        who = who_is(values)
        try:
            return self._part.canary(self._subject, values, self._next, listens=who not in self._deaf)
        except NotConsumed as reason:
            if self._begun:
                raise
            canary = self._part.canary(self._subject, values, self._next, listens=False)
            self._deaf.add(who)
            logins = ", ".join(sorted(self._deaf))
            self.note = (
                f"canaries without deliveries: {logins} cannot consume from a queue of their own: {reason}"
            )
            return canary

    @property
    def _next(self) -> int:
        """A number that no other canary has had."""
        self._opened += 1
        return (id(self) & 0xFFFF) << 16 | self._opened

    def _try_through(self) -> None:
        """Try a message at the beginning: a target that does not pass it before any input will not do so later."""
        try:
            reason = next((found.detail for found in self._through()), "")
        except Unanswered as unanswered:
            reason = str(unanswered)
        if reason:
            self.off = self.note = f"no canaries: the target passes no message of theirs: {reason}"

    def _through(self) -> Iterator[Suspicion]:
        """Send a message through a queue and back, on a separate connection."""
        assert self._part.echo is not None
        subject, (state, body) = self._subject, self._part.echo
        values = replace(
            subject.values, queue=f"{subject.values.queue}.canary", container=f"amqpspec-canary-{now_s()}"
        )
        if subject.make_node is not None:
            subject.make_node(values, values.queue)
        with self._part.echo_client(subject, values) as client:
            said = client.enter(state)
            if said is None or body not in said.payload:
                actual = b"" if said is None else said.payload
                yield Suspicion(
                    Oracle.CANARY, "message changed",
                    f"expected a message that holds {body!r}, actual {actual[:64]!r}",
                )  # fmt: skip
