"""One well-behaved connection, step by step: what a sentinel and the canaries speak through.

Knows: a blocking socket, ways into states. Must not know: what a failure means.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from math import inf
from types import TracebackType
from typing import Self

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.heard import Heard, learned
from amqpspec.fuzz.executor.loop import READ_OCTETS
from amqpspec.fuzz.states.model import Step, Values
from amqpspec.fuzz.states.ways import octets_of_step, way
from amqpspec.net.dial import AnyStream, dial
from amqpspec.net.stream import ConnectError
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnd, StreamEnded

_MOST_OCTETS, _MOST_PASSED = 4 << 20, 20_000
"""The most that a target may send before the next question, and how much of it is kept: a hostile one never ends."""
_GRACE_S = 2.0
"""What arrived by the end of a wait is read for so long: on a busy machine it may be looked at late."""


class Unanswered(Exception):
    """The target did not answer as expected; the text says what was expected and what arrived.

    ``refused_connect``: there was no connection; ``silent``: nothing arrived; ``refused``: it refused explicitly.
    """

    def __init__(
        self, text: str, *, refused_connect: bool = False, silent: bool = False, refused: bool = False
    ) -> None:
        super().__init__(text)
        self.refused_connect, self.silent, self.refused = refused_connect, silent, refused


class Client:
    """Connects when it is made; raises Unanswered. No wait lasts beyond ``until_s``, whatever keeps arriving."""

    def __init__(
        self, address: Address, dialect: str, values: Values, timeout_s: float, until_s: float = inf
    ) -> None:
        self.dialect, self.values, self.timeout_s, self._until_s = dialect, values, timeout_s, until_s
        self._unasked_octets = 0
        self._decode = decoder(dialect)
        self._heard: deque[Heard] = deque()
        self.passed: list[Heard] = []
        self.offered: tuple[str, ...] = ()
        self._socket = _connected(address, timeout_s)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def enter(self, state: str) -> Heard | None:
        """Go through the steps into a state; returns the last answer that was waited for."""
        last = None
        for step in way(self.dialect, state, self.values.mechanism):
            self.send(self._octets_of(step))
            for name in step.wait_for:
                last = self.wait(name)
        return last

    def _octets_of(self, step: Step) -> bytes:
        return octets_of_step(self.dialect, step, self.values)

    def send(self, octets: bytes) -> None:
        """Send octets."""
        self._unasked_octets = 0
        self._socket.settimeout(max(0.001, min(self.timeout_s, self._until_s - time.monotonic())))
        try:
            self._socket.sendall(octets)
        except OSError as error:
            raise Unanswered(f"the stream took no more octets: {error}") from error

    def wait(self, *names: str, also: str = "") -> Heard:
        """Return the next thing with one of these names; others go to ``passed``, and a refusal ends the wait.

        ``also`` ends it, too, although it is not expected.
        """
        until_s = time.monotonic() + self.timeout_s
        wanted = " or ".join(names)
        while True:
            said = self.next(until_s)
            if said is None:
                raise Unanswered(
                    f"expected {wanted}, actual: nothing in {self.timeout_s:.1f} s{self._unoffered}",
                    silent=True,
                )
            if said.name in names or said.name == also:
                return said
            if said.refusal is not None:
                raise Unanswered(
                    f"expected {wanted}, actual: {said.refusal.scope} {said.refusal.code}{self._unoffered}",
                    refused=True,
                )
            if len(self.passed) >= _MOST_PASSED:
                raise Unanswered(f"expected {wanted}, actual: {_MOST_PASSED} other things")
            self.passed.append(said)

    def next(self, until_s: float) -> Heard | None:
        """Return the next thing that the target says, or None at ``until_s``."""
        until_s = min(until_s, self._until_s)
        while not self._heard:
            left_s = until_s - time.monotonic()
            if left_s < -_GRACE_S:
                return None
            self._socket.settimeout(max(0.001, left_s))
            try:
                octets = self._socket.recv(READ_OCTETS)
            except TimeoutError:
                return None
            except OSError as error:
                raise Unanswered(f"the stream broke: {error}") from error
            if not octets:
                raise Unanswered(f"the target ended the stream{self._unoffered}")
            self._unasked_octets += len(octets)
            if self._unasked_octets > _MOST_OCTETS:
                raise Unanswered(f"expected an answer, actual: more than {_MOST_OCTETS} octets of others")
            self._heard.extend(self._decode(octets))
        said = self._heard.popleft()
        self.offered = said.mechanisms or self.offered
        self.values = learned(self.values, said)
        return said

    @property
    def _unoffered(self) -> str:
        """A remark if the mechanism of the login was not among those offered."""
        if not self.offered or self.values.mechanism in self.offered:
            return ""
        return f" (mechanism {self.values.mechanism}; offered: {', '.join(self.offered)})"


class _Messages:
    """A WebSocket with as much of the interface of a blocking socket as the client needs."""

    def __init__(self, stream: AnyStream) -> None:
        self._stream, self._timeout_s = stream, 0.0

    def getsockname(self) -> tuple[str, int]:
        """The address of our end."""
        return self._stream.local

    def settimeout(self, seconds_s: float) -> None:
        """Set how long to wait from now on."""
        self._timeout_s = seconds_s

    def sendall(self, octets: bytes) -> None:
        """Send octets; raises OSError if they are not accepted."""
        if not self._stream.send(octets):
            raise OSError("the stream does not accept them")

    def recv(self, most: int) -> bytes:
        """Return what arrived, whatever ``most`` says, or nothing at the end of the stream. Raises TimeoutError, and
        OSError for a broken stream.
        """
        try:
            octets = self._stream.receive(time.monotonic() + self._timeout_s)
        except StreamEnded as ended:
            if ended.how is StreamEnd.FIN:
                return b""
            raise ConnectionResetError(str(ended)) from ended
        except WireError as error:
            raise OSError(str(error)) from error
        if not octets:
            raise TimeoutError
        return octets

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def _connected(address: Address, timeout_s: float) -> socket.socket | _Messages:
    """Open a stream to the target, over TLS or WebSocket according to the address. Raises Unanswered."""
    if address.path:
        try:
            return _Messages(dial(address.endpoint, timeout_s))
        except ConnectError as error:
            raise Unanswered(str(error), silent=isinstance(error.__cause__, TimeoutError)) from error
    try:
        raw = socket.create_connection((address.host, address.port), timeout_s)
    except OSError as error:
        raise Unanswered(f"cannot connect: {error}", refused_connect=True) from error
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if address.tls is None:
        return raw
    try:
        return address.tls.context.wrap_socket(raw, server_hostname=address.tls.server_name(address.host))
    except (OSError, ValueError) as error:
        raw.close()
        silent = isinstance(error, TimeoutError)
        raise Unanswered(f"no TLS with {address.host}:{address.port}: {error}", silent=silent) from error
    except BaseException:  # the alarm of a budget included
        raw.close()
        raise
