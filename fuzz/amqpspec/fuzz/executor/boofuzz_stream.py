"""A connection for boofuzz that also reports what the target did: answers by name, and the state of the stream.

Knows: sockets, boofuzz' words for what goes wrong. Must not know: requests, findings.
"""

from __future__ import annotations

import socket
import struct

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.executor.loop import READ_OCTETS
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.states.part import states_part

_RESET = struct.pack("ii", 1, 0)


class Stream:
    """Connects to the same address again and again; ``sent`` is what was sent on the connection that is open."""

    def __init__(self, address: Address, dialect: str, way_s: float) -> None:
        self.address, self.dialect, self.way_s = address, dialect, way_s
        self._on: socket.socket | None = None
        self._fresh()

    def _fresh(self) -> None:
        self.sent: list[bytes] = []
        self.received_octets = 0
        self.end = End.OPEN
        self._decode = decoder(self.dialect)

    @property
    def info(self) -> str:
        """The address, for messages."""
        return f"{self.address.host}:{self.address.port}"

    # --- what boofuzz calls

    def open(self) -> None:
        """Connect; raises boofuzz' error if no one listens."""
        from boofuzz.exception import BoofuzzTargetConnectionFailedError

        self.close()
        self._fresh()
        try:
            self._on = socket.create_connection((self.address.host, self.address.port), self.way_s)
        except OSError as error:
            self.end = End.REFUSED
            raise BoofuzzTargetConnectionFailedError(str(error)) from error
        self._on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close with a reset, so that no port stays in use."""
        if self._on is not None:
            self._on.close()
            self._on = None

    def send(self, data: bytes) -> int:
        """Send all octets, as far as the target accepts them."""
        assert self._on is not None
        self.sent.append(data)
        self._on.settimeout(self.way_s)
        try:
            self._on.sendall(data)
        except TimeoutError:
            return 0
        except OSError:
            # Reading tells how it ended, after what had arrived before.
            return 0
        return len(data)

    def recv(self, max_bytes: int) -> bytes:
        """Octets that have arrived; none if nothing arrives in time or the stream has ended."""
        octets = self._read(now_s() + self.way_s)
        for _ in self._decode(octets):
            pass
        return octets

    # --- questions after an input

    def reaction(self, wait_s: float, settle_s: float, owed: bool) -> tuple[list[Heard], float | None]:
        """What the target says until it refuses, the stream ends or nothing more arrives; and the first latency."""
        begun_s, life = now_s(), states_part(self.dialect).handshake.life
        until_s, latency_s, said = begun_s + wait_s, None, list[Heard]()
        while not any(one.refusal for one in said) and (octets := self._read(until_s)):
            heard = [one for one in self._decode(octets) if one.name not in life]
            if latency_s is None and heard:
                latency_s = now_s() - begun_s
            said += heard
            if not owed:
                until_s = now_s() + settle_s
        return said, latency_s

    def _read(self, until_s: float) -> bytes:
        if self._on is None or self.end is not End.OPEN:
            return b""
        self._on.settimeout(max(0.001, until_s - now_s()))
        try:
            octets = self._on.recv(READ_OCTETS)
        except TimeoutError:
            return b""
        except OSError:
            self.end = End.RST
            return b""
        if not octets:
            self.end = End.FIN
        self.received_octets += len(octets)
        return octets
