"""A reference broker in memory, with a clock that advances when a client waits: a conversation takes milliseconds,
and its result does not depend on real time.

Knows: an event loop without external input, the two ends of a connection, asyncio's interface for protocols. Must
not know: sockets, cases, or any protocol.

``Meddling`` is between broker and client and may change the octets of either.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Collection
from typing import Any

from amqpspec.reference.core import Core
from amqpspec.reference.deviations import Deviations
from amqpspec.reference.server import connection_of
from amqpspec.spec.dialects import widest
from amqpspec.wire.transport import StreamEnd, StreamEnded

_STEP_S = 0.0001
_RESTART_S = 0.1
_HIGH_WATER = 1 << 22
"""How many octets the broker may write before they are read, as between two sockets of one machine."""
_PIECE = 16
"""Up to this many octets are delivered separately; longer data is delivered together with waiting data."""


class Meddling:
    """Changes octets between the two ends of one connection: by itself, none."""

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        """The octets for the client in place of the broker's."""
        return octets

    def from_case(self, octets: bytes, end: ClientEnd) -> bytes:
        """The octets for the broker in place of the client's."""
        return octets


class _Still(selectors.BaseSelector):
    """A selector without external input: waiting advances the clock."""

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
        """Run the loop until the condition holds or the time is reached."""
        while not done() and self.time() < until_s:
            timer = self.call_at(until_s, self.stop)
            self.run_forever()
            timer.cancel()


class _NoSocket:
    """Accepts options and ignores them."""

    def setsockopt(self, *option: Any) -> None:
        pass


class _BrokerEnd(asyncio.Transport):
    """The broker's transport: written octets are available immediately."""

    def __init__(self, client: ClientEnd) -> None:
        super().__init__({"socket": _NoSocket()})
        self.client = client
        self.closing = self.paused = self._mute = False

    def write(self, data: Any) -> None:
        if self._mute:
            raise RuntimeError("Cannot call write() after write_eof()")  # like asyncio
        self.client.come(bytes(data))
        if self.client.unread > _HIGH_WATER and not self.paused:
            self.paused = True
            self.client.protocol.pause_writing()

    def drained(self) -> None:
        """Written octets were read."""
        if self.paused and not self.closing:
            self.paused = False
            self.client.protocol.resume_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._mute = True
        self.client.end(StreamEnd.FIN)

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self._ended(StreamEnd.FIN)

    def abort(self) -> None:
        self._ended(StreamEnd.RST)

    def _ended(self, how: StreamEnd) -> None:
        if not self.closing:
            self.closing = True
            self.client.end(how)
            self.client.loop.call_soon(self.client.protocol.connection_lost, None)


class ClientEnd:
    """The client's transport (``amqpspec.wire.transport.Transport``)."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.loop, self._check, self._meddling = broker.loop, broker.check, broker.meddle()
        self.ended: StreamEnd | None = None
        self.closed = False
        self._inbox = bytearray()
        self._waiting: list[bytearray] = []
        self._broker = _BrokerEnd(self)
        self.protocol = broker.connect(broker.core)
        self.loop.call_soon(self.protocol.connection_made, self._broker)

    # --- the broker's side

    @property
    def unread(self) -> int:
        """How many octets wait to be received."""
        return len(self._inbox)

    def come(self, octets: bytes) -> None:
        """Octets from the broker."""
        if self.ended is None:
            self._inbox += self._meddling.from_broker(octets, self)
            self.loop.stop()

    def end(self, how: StreamEnd) -> None:
        """The broker has ended its side."""
        self.ended = self.ended or how
        self.loop.stop()

    def tell_broker(self, octets: bytes) -> None:
        """Send octets to the broker that the client did not send."""
        if not octets or self._broker.closing:
            return
        if self._waiting and len(octets) > _PIECE:
            self._waiting[-1] += octets
        else:
            self._waiting.append(bytearray(octets))
            self.loop.call_soon(self._reach_broker)

    def _reach_broker(self) -> None:
        octets = bytes(self._waiting.pop(0))
        if self._broker.closing:
            return
        try:
            self.protocol.data_received(octets)
        except Exception:
            self._broker.close()  # asyncio does the same if a protocol raises
            raise

    # --- the client's side

    def now(self) -> float:
        """The broker's clock, in seconds."""
        return self.loop.time()

    def note(self, text: str) -> None:
        """Nothing is recorded."""

    def send(self, octets: bytes) -> bool:
        """Send; False if the broker no longer reads."""
        self._check()
        if self.closed or self._broker.closing:
            return False
        self.tell_broker(self._meddling.from_case(octets, self))
        return True

    def receive(self, until_s: float) -> bytes:
        """What has arrived, or comes until then; raises StreamEnded."""
        self._check()
        self.loop.still.clock_s += _STEP_S
        self.loop.run_until(until_s, lambda: bool(self._inbox) or self.ended is not None)
        octets = bytes(self._inbox)
        self._inbox.clear()
        if self._broker.paused:
            self.loop.call_soon(self._broker.drained)
        if not octets and self.ended is not None:
            raise StreamEnded(self.ended)
        return octets

    def half_close(self, last: bytes = b"") -> None:
        """End the client's side of the stream."""
        self.send(last)
        self.loop.call_soon(self._eof)

    def _eof(self) -> None:
        if not self._broker.closing and not self.protocol.eof_received():
            self._broker.close()

    def close(self) -> None:
        """Close the connection."""
        if not self.closed:
            self.closed = True
            self.end(StreamEnd.FIN)
            self.loop.call_soon(self._eof)


def _unchecked() -> None:
    pass


class MemoryBroker:
    """A broker without a socket.

    ``faults`` and ``late_s`` are those of a ``ReferenceBroker``, ``meddle`` makes what is in each connection,
    ``check`` is called before each step of a client and may raise.
    """

    def __init__(
        self,
        dialect: str,
        faults: Collection[str] = (),
        late_s: float = 0.0,
        meddle: Callable[[], Meddling] = Meddling,
        check: Callable[[], None] = _unchecked,
    ) -> None:
        self.loop, self.meddle, self.check = _Loop(), meddle, check
        spoken = widest(dialect)
        self.core = Core(spoken, Deviations(faults), "127.0.0.1", late_s=late_s, clock=self.loop.time)
        self.connect = connection_of(spoken)

    def dial(self) -> ClientEnd:
        """A new connection."""
        return ClientEnd(self)

    def restart(self) -> None:
        """Drop every connection and whatever is not durable."""
        self.loop.call_soon(self.core.restart)
        self.loop.run_until(self.loop.time() + _RESTART_S, lambda: False)

    def close(self) -> None:
        """Release the loop; no connection can be used any more."""
        self.loop.close()
