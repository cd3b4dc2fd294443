"""A reference broker in memory, on a clock that waiting moves on: a case takes milliseconds, and nothing is timed.

``Meddling`` stands between broker and case and may put other words into the broker's mouth.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Protocol, cast

import pytest

from amqpspec.peer.context import BudgetSpent, Context, Login
from amqpspec.reference import signs
from amqpspec.reference.core import Core
from amqpspec.reference.deviations import Deviations
from amqpspec.spec.dialects import part_of, widest
from amqpspec.target.live import REFERENCE_LOGINS, REFERENCE_VHOSTS
from amqpspec.wire.transport import StreamEnd, StreamEnded

_STEP_S = 0.0001


class Meddling(Protocol):
    """What happens to octets between the two ends of one connection."""

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        """What the case gets in place of what the broker said."""

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes:
        """What the broker gets in place of what the case said."""


class Plain:
    """Nothing happens to octets."""

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        return octets

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes:
        return octets


class _Still(selectors.BaseSelector):
    """Nothing ever comes from outside: to wait is to move the clock on."""

    def __init__(self) -> None:
        self.clock_s = 1.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, 0, None)

    def select(self, timeout: float | None = None) -> list[Any]:
        self.clock_s += timeout or 0.0
        return []

    def get_map(self) -> dict[Any, Any]:
        return {}


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.still = _Still()
        super().__init__(self.still)

    def time(self) -> float:
        return self.still.clock_s

    def run_until(self, until_s: float, done: Callable[[], bool]) -> None:
        """Let things happen until it is done or so late."""
        while not done() and self.time() < until_s:
            timer = self.call_at(until_s, self.stop)
            self.run_forever()
            timer.cancel()


class _BrokerEnd(asyncio.Transport):
    """The broker's transport: what it writes is there at once."""

    def __init__(self, client: ClientEnd) -> None:
        super().__init__()
        self.client = client
        self.closing = False

    def write(self, data: Any) -> None:
        self.client.come(bytes(data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.client.end(StreamEnd.FIN)

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self._gone(StreamEnd.FIN)

    def abort(self) -> None:
        self._gone(StreamEnd.RST)

    def _gone(self, how: StreamEnd) -> None:
        if not self.closing:
            self.closing = True
            self.client.end(how)
            self.client.loop.call_soon(self.client.protocol.connection_lost, None)


class ClientEnd:
    """The case's transport."""

    def __init__(self, target: MemoryTarget, meddling: Meddling) -> None:
        self.loop, self.target, self.meddling = target.loop, target, meddling
        self.ended: StreamEnd | None = None
        self.closed = False
        self._inbox = bytearray()
        self._broker = _BrokerEnd(self)
        self.protocol = target.connect(target.core)
        self.loop.call_soon(self.protocol.connection_made, self._broker)

    # --- the broker's side

    def come(self, octets: bytes) -> None:
        if self.ended is None:
            self._inbox += self.meddling.from_broker(octets, self)
            self.loop.stop()

    def end(self, how: StreamEnd) -> None:
        self.ended = self.ended or how
        self.loop.stop()

    def tell_broker(self, octets: bytes) -> None:
        """Octets to the broker that the case knows nothing of."""
        if octets and not self._broker.closing:
            self.loop.call_soon(self.protocol.data_received, octets)

    # --- the case's side

    def now(self) -> float:
        return self.loop.time()

    def note(self, text: str) -> None:
        """Nothing is written down."""

    def send(self, octets: bytes) -> bool:
        self.target.check()
        if self.closed or self._broker.closing:
            return False
        self.tell_broker(self.meddling.from_case(octets, self))
        return True

    def receive(self, until_s: float) -> bytes:
        self.target.check()
        self.loop.still.clock_s += _STEP_S
        self.loop.run_until(until_s, lambda: bool(self._inbox) or self.ended is not None)
        octets = bytes(self._inbox)
        self._inbox.clear()
        if not octets and self.ended is not None:
            raise StreamEnded(self.ended)
        return octets

    def half_close(self, last: bytes = b"") -> None:
        self.send(last)
        self.loop.call_soon(self._eof)

    def _eof(self) -> None:
        if not self._broker.closing and not self.protocol.eof_received():
            self._broker.close()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.end(StreamEnd.FIN)
            self.loop.call_soon(self._eof)


class MemoryTarget:
    """One broker for one case.

    ``meddle`` makes what stands in each connection, ``limit_s`` and ``receives`` bound real time, ``faults`` and
    ``late_s`` are those of a reference broker.
    """

    def __init__(
        self,
        dialect: str,
        meddle: Callable[[], Meddling] = Plain,
        limit_s: float = 5.0,
        receives: int = 20_000,
        faults: Collection[str] = (),
        late_s: float = 0.0,
    ) -> None:
        self.loop, self.meddle, self.dialect = _Loop(), meddle, dialect
        self.core = Core(widest(dialect), Deviations(faults), "127.0.0.1", late_s=late_s)
        self.connect = cast(Callable[[Core], asyncio.Protocol], part_of(widest(dialect), "reference"))
        for vhost in self.core.vhosts.values():
            vhost._clock = self.loop.time
        self._until_s, self._left = time.monotonic() + limit_s, receives

    def check(self) -> None:
        """Raises BudgetSpent."""
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._until_s:
            raise BudgetSpent

    def dial(self) -> ClientEnd:
        return ClientEnd(self, self.meddle())

    def restart(self) -> None:
        self.loop.call_soon(self.core.restart)
        self.loop.run_until(self.loop.time() + 0.1, lambda: False)

    def context(self, **facts: Any) -> Context:
        """The world of one case."""
        context = Context(
            dialect=widest(self.dialect),
            requirements=(),
            dial=self.dial,
            logins={role: Login(user, word) for role, (user, word) in REFERENCE_LOGINS.items()},
            vhosts=REFERENCE_VHOSTS,
            restart_hook=self.restart,
        )
        return replace(context, **facts)

    def close(self) -> None:
        self.loop.close()


def still_clock(patch: pytest.MonkeyPatch, target: MemoryTarget) -> None:
    """Have the broker's signs of life keep the target's time."""
    patch.setattr(signs, "time", SimpleNamespace(monotonic=target.loop.time))
