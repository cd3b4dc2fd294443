"""The canaries of AMQP 1.0: a node that stores a message over the batch, and one that is received from all the time.

Knows: links, credit, its own transfers. Must not know: inputs, processes, what a complaint leads to.

All transfers are settled when they are sent. A canary that cannot pass a message of its own when it is opened is none:
what it says later would be about the target's ways, not about an input.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import RLock, Thread
from typing import Any

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.clock import now_s, pause
from amqpspec.fuzz.executor.heard import Counters, Heard
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.part import PATIENCE_S, HeldBack, who_is
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.model import Step, Values
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, performative_frame
from amqpspec.wire.amqp_1_0.message import encode_message

_DELIVERY_S, _QUIET_S = 3.0, 0.02
_PULSE_S = 0.5
"""How often a sign of life goes out: some targets give up a silent connection after few seconds."""
_CREDIT, _BATCHES = 2000, 900
_WINDOW, _SERIAL = (1 << 31) - 1, (1 << 32) - 1
_STORE, _STORED, _IN, _INBOX = range(4)
"""Handles: to and from the node that stores, to and from the node that is received from."""
_HELD_BACK_S = 3.0
"""How long the target has to accept more transfers: RabbitMQ closes the window while its memory alarm is set."""


class TypedClient(Client):
    """A client in a session that knows how many transfers the target accepts (amqp-1.0 §2.5.6, §2.6.7)."""

    _window = 0
    """The number of the first transfer that is too many for the session."""

    def __init__(self, subject: Subject, values: Values) -> None:
        self._credit: dict[int, int] = {}
        self._early: deque[Heard] = deque()
        super().__init__(subject.address, subject.dialect, values, PATIENCE_S)

    def next(self, until_s: float) -> Heard | None:
        """Return the next thing that the target says, or None at ``until_s``."""
        return self._early.popleft() if self._early else self._next(until_s)

    def _next(self, until_s: float) -> Heard | None:
        said = super().next(until_s)
        counters = None if said is None else said.counters
        if counters is not None and counters.incoming_window is not None:
            self._window = (counters.next_incoming_id or 0) + counters.incoming_window
            if counters.handle is not None:
                self._credit[counters.handle] = (counters.delivery_count or 0) + (counters.link_credit or 0)
        return said

    def make_room(self, sent: int, handle: int, sent_on_link: int) -> None:
        """Wait until the session, and the link with that handle of the target, accept one more transfer.

        Raises Unanswered, HeldBack.
        """
        until_s = now_s() + _HELD_BACK_S
        while sent >= self._window or sent_on_link >= self._credit.get(handle, 0):
            said = self._next(until_s)
            if said is None:
                raise _held_back()
            if said.refusal is not None:
                raise Unanswered(f"expected a flow, actual: {said.refusal.scope} {said.refusal.code}")
            self._early.append(said)


def _held_back() -> HeldBack:
    return HeldBack(f"the target gave no credit or window in {_HELD_BACK_S:.0f} s")


class EchoClient(TypedClient):
    """A client on its way to a delivery of its own message, which is its only transfer. Raises HeldBack as well."""

    def wait(self, *names: str, also: str = "") -> Heard:
        """Return the next thing with one of these names; see ``Client``. Credit need not be given (§2.6.7)."""
        try:
            return super().wait(*names, also=also)
        except Unanswered as reason:
            if reason.silent and names == ("flow",):
                raise _held_back() from reason
            raise

    def _octets_of(self, step: Step) -> bytes:
        if any(say.name == "transfer" for say in step.says):
            self.make_room(0, next(iter(self._credit), 0), 0)
        return super()._octets_of(step)


@dataclass(slots=True)
class _Link:
    """The target's handle of a link, the number of its first delivery, and how many transfers were sent on it."""

    handle: int
    first: int
    sent: int = 0


class TypedCanary:
    """One login's nodes. Raises Unanswered, HeldBack."""

    def __init__(self, subject: Subject, values: Values, number: int) -> None:
        self.who = who_is(values)
        self._number, self._subject, self._values = number, subject, values
        self._sent = self._heard = self._stored = self._batches = 0
        self._links: dict[int, _Link] = {}
        self.expected = b""
        self._busy = RLock()
        self.client = self._opened()
        Thread(target=self._live, daemon=True).start()

    def _live(self) -> None:
        """Empty frames while nothing else is sent, until the stream accepts no more."""
        try:
            while True:
                pause(_PULSE_S)
                with self._busy:
                    self.client.send(EMPTY_FRAME)
        except (Unanswered, OSError):
            return  # given up, or disconnected: the next check detects it

    def _opened(self) -> TypedClient:
        values = replace(self._values, container=f"amqpspec-canary-{self._number}")
        client = self.client = TypedClient(self._subject, values)
        try:
            self._settle(client)
        except BaseException:  # the alarm of a budget included
            client.close()
            raise
        return client

    def _settle(self, client: TypedClient) -> None:
        """Attach to both nodes, and take out what they hold."""
        client.enter("session")
        self._first_transfer = client.values.next_incoming
        for handle, node in ((_STORE, "s"), (_IN, "i")):
            address = f"{self._values.queue}.canary.{self._number}.{node}"
            if self._subject.make_node is not None:
                self._subject.make_node(self._values, address)
            self._attach(handle, "sender", address)
            self._attach(handle + 1, "receiver", address)
            client.passed.clear()
            self._flow(handle + 1, 0, _CREDIT)
            self._empty(handle)

    def _attach(self, handle: int, role: str, address: str) -> None:
        more: dict[str, Any] = (
            {"initial_delivery_count": 0} if role == "sender" else {"snd_settle_mode": "settled"}
        )
        self.client.send(
            performative_frame(
                "attach", 0, name=f"amqpspec-canary-{self._number}-{handle}", handle=handle, role=role,
                source={"address": address}, target={"address": address}, **more,
            )
        )  # fmt: skip
        counters = self.client.wait("attach").counters or Counters()
        self._links[handle] = _Link(counters.handle or 0, counters.initial_delivery_count or 0)

    def _empty(self, handle: int) -> None:
        """Take out what the node holds from another time, up to a message of this canary; then stop the store."""
        mark, before = self._token(handle, "mark"), self._heard
        self._transfer(handle, mark)
        if not any(mark in body for body in self._until(mark, PATIENCE_S)):
            missing = f"expected a canary's own message back, actual: none in {PATIENCE_S:.0f} s"
            raise Unanswered(missing, silent=True)
        if handle == _STORE:
            self._stored = self._heard - before
            self._flow(_STORED, self._stored, 0)

    def place(self, number: int) -> None:
        """Store a message. Raises Unanswered, HeldBack."""
        with self._busy:
            self._batches += 1
            if self._batches > _BATCHES:
                self._anew()
            self.expected = self._token(number, self.who)
            self._transfer(_STORE, self.expected)

    def _anew(self) -> None:
        self.client.close()
        self._sent = self._heard = self._stored = self._batches = 0
        self.client = self._opened()

    def check(self, number: int) -> Iterator[Suspicion]:
        """What came that was not sent here; what has happened to the stored message. Raises as ``place``."""
        with self._busy:
            yield from self._check(number)

    def _check(self, number: int) -> Iterator[Suspicion]:
        own = self._token(-number, self.who)
        self._transfer(_IN, own)
        received = self._until(own, _DELIVERY_S)
        if not any(own in body for body in received):
            yield Suspicion(Oracle.CANARY, "delivery changed or lost", f"{self.who}: {_among(received)}")
        elif len(received) != 1:
            yield Suspicion(Oracle.LEAK, "foreign delivery", f"{self.who}: {_among(received)}")
        self._flow(_STORED, self._stored, 1)
        stored = self._until(b"", _DELIVERY_S)
        self._stored += len(stored)
        if not any(self.expected in body for body in stored):
            yield Suspicion(
                Oracle.CANARY, "stored message changed",
                f"{self.who}: expected the {len(self.expected)} octets that were stored, actual {_among(stored)}",
            )  # fmt: skip
            if not stored:
                raise Unanswered("a stored message did not arrive", silent=True)

    # --- sending and receiving

    def _token(self, number: int, who: str) -> bytes:
        seed = blake2b(f"{number} {who} {self._number}".encode(), digest_size=32).digest()
        return b"amqpspec canary " + seed * 8

    def _transfer(self, handle: int, body: bytes) -> None:
        link = self._links[handle]
        self.client.make_room(self._sent, link.handle, link.sent)
        octets = performative_frame(
            "transfer", 0, payload=encode_message(data=body), handle=handle, delivery_id=self._sent,
            delivery_tag=self._sent.to_bytes(4, "big"), message_format=0, settled=True,
        )  # fmt: skip
        self._sent += 1
        link.sent += 1
        self.client.send(octets)

    def _flow(self, handle: int, received: int, credit: int) -> None:
        next_incoming_id = self._first_transfer + self._heard & _SERIAL
        delivery_count = self._links[handle].first + received & _SERIAL
        self.client.send(
            performative_frame(
                "flow", 0, next_incoming_id=next_incoming_id, incoming_window=_WINDOW, next_outgoing_id=self._sent,
                outgoing_window=_WINDOW, handle=handle, delivery_count=delivery_count, link_credit=credit,
            )
        )  # fmt: skip

    def _until(self, own: bytes, within_s: float) -> list[bytes]:
        """Payloads that were transferred: up to one that holds this canary's, and what arrives directly after it."""
        received: list[bytes] = []
        until_s = now_s() + within_s
        while (said := self.client.next(until_s)) is not None:
            if said.refusal is not None:
                raise Unanswered(f"expected a transfer, actual: {said.refusal.scope} {said.refusal.code}")
            if said.name == "transfer":
                self._heard += 1
                received.append(said.payload)
                if own in said.payload:
                    until_s = now_s() + _QUIET_S
        return received


def _among(received: list[bytes]) -> str:
    return f"expected its own message once, actual {len(received)} transfers: {[body[:40] for body in received[:3]]}"
