"""One well-behaved connection, step by step: what a sentinel and the canaries speak through.

Knows: a blocking socket, ways into states. Must not know: what a failure means.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from dataclasses import replace
from types import TracebackType
from typing import Self

from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.executor.loop import READ_OCTETS, Address
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, way


class Unanswered(Exception):
    """The target did not go along: what was expected, what came.

    ``refused_connect``: not even a stream did; ``silent``: nothing came; ``refused``: it said no in so many words.
    """

    def __init__(
        self, text: str, *, refused_connect: bool = False, silent: bool = False, refused: bool = False
    ) -> None:
        super().__init__(text)
        self.refused_connect, self.silent, self.refused = refused_connect, silent, refused


class Client:
    """Connects at once; raises Unanswered."""

    def __init__(self, address: Address, dialect: str, values: Values, timeout_s: float) -> None:
        self.dialect, self.values, self.timeout_s = dialect, values, timeout_s
        self._decode = decoder(dialect)
        self._heard: deque[Heard] = deque()
        self.passed: list[Heard] = []
        self.offered: tuple[str, ...] = ()
        self._socket = _connected(address, timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def enter(self, state: str) -> Heard | None:
        """Go the way into a state; gives the last thing that was waited for."""
        last = None
        for step in way(self.dialect, state, self.values.mechanism):
            self.send(octets_of_step(self.dialect, step, self.values))
            for name in step.wait_for:
                last = self.wait(name)
        return last

    def send(self, octets: bytes) -> None:
        """Send octets."""
        self._socket.settimeout(self.timeout_s)
        try:
            self._socket.sendall(octets)
        except OSError as error:
            raise Unanswered(f"the stream took no more octets: {error}") from error

    def wait(self, *names: str) -> Heard:
        """The next thing of one of these names; others go to ``passed``, a refusal ends the waiting."""
        until_s = time.monotonic() + self.timeout_s
        wanted = " or ".join(names)
        while True:
            said = self.next(until_s)
            if said is None:
                raise Unanswered(
                    f"expected {wanted}, actual: nothing in {self.timeout_s:.1f} s{self._unoffered}",
                    silent=True,
                )
            if said.name in names:
                return said
            if said.refusal is not None:
                raise Unanswered(
                    f"expected {wanted}, actual: {said.refusal.scope} {said.refusal.code}{self._unoffered}",
                    refused=True,
                )
            self.passed.append(said)

    def next(self, until_s: float) -> Heard | None:
        """The next thing that the target says, or None when the clock passes ``until_s``."""
        while not self._heard:
            self._socket.settimeout(max(0.001, until_s - time.monotonic()))
            try:
                octets = self._socket.recv(READ_OCTETS)
            except TimeoutError:
                return None
            except OSError as error:
                raise Unanswered(f"the stream broke: {error}") from error
            if not octets:
                raise Unanswered(f"the target ended the stream{self._unoffered}")
            self._heard.extend(self._decode(octets))
        said = self._heard.popleft()
        self.offered = executor_part(self.dialect).mechanisms_in(said) or self.offered
        if said.limits is not None:
            channel_max, frame_max_octets = said.limits
            self.values = replace(self.values, channel_max=channel_max, frame_max_octets=frame_max_octets)
        return said

    @property
    def _unoffered(self) -> str:
        """That the login's mechanism was not among those offered, where this is so."""
        if not self.offered or self.values.mechanism in self.offered:
            return ""
        return f" (mechanism {self.values.mechanism}; offered: {', '.join(self.offered)})"


def _connected(address: Address, timeout_s: float) -> socket.socket:
    """A stream to the target, of TLS where it is to be. Raises Unanswered."""
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
