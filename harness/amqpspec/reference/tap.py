"""Between a reference broker and its sockets: everything that passes is kept, and a hostile server is put in its place.

Knows: asyncio's transports and protocols. Must not know: any dialect; a ``Cutter`` knows its frames.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Protocol, cast

from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Cutter, Reading, Talk
from amqpspec.wire.hostility import Act, Hostility

_AHEAD_OCTETS = 1 << 20


class Recorder(Protocol):
    """Who wants to know what passes."""

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed."""

    def began(self, talk: Talk) -> None:
        """A client has connected."""

    def ended(self, talk: Talk) -> None:
        """A client's side has ended."""


def tapped(
    recorder: Recorder, reading: Reading, hostility: Hostility | None
) -> Callable[[asyncio.Protocol], asyncio.Protocol]:
    """What stands between a broker's connections and their sockets; connections are numbered from 1."""
    numbers = count(1)

    def through(own: asyncio.Protocol) -> asyncio.Protocol:
        cutter = reading.cutter()
        return Tap(own, Talk(next(numbers)), recorder, lambda tap: WayOut(tap, cutter, hostility))

    return through


class Tap(asyncio.Protocol):
    """One connection: stands before the broker's end of it."""

    def __init__(
        self, inner: asyncio.Protocol, talk: Talk, recorder: Recorder, way_out: Callable[[Tap], WayOut]
    ) -> None:
        self.inner, self.talk, self._recorder = inner, talk, recorder
        self._make_way_out = way_out
        self.transport: asyncio.Transport
        self.is_mute = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._recorder.began(self.talk)
        self._way_out = self._make_way_out(self)
        self.inner.connection_made(cast(asyncio.Transport, _Tapped(self, self._way_out)))

    def data_received(self, data: bytes) -> None:
        """The client has said something."""
        self.keep(Side.CLIENT, data)
        if not self.is_mute:
            self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        """The client has shut its side."""
        self.end("FIN")
        return None if self.is_mute else self.inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if isinstance(exc, ConnectionError):
            self.end("RST")
        self._way_out.stop()
        self.inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads slowly."""
        self._way_out.pause()
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._way_out.resume()
        self.inner.resume_writing()

    def keep(self, sender: Side, octets: bytes) -> None:
        """Keep what has passed."""
        at_ns = time.monotonic_ns()
        self.talk.add(sender, at_ns, octets)
        self._recorder.octets(self.talk, sender, at_ns, octets)

    def end(self, how: str) -> None:
        """The client's side has ended."""
        if not self.talk.ended:
            self.talk.ended, self.talk.ended_ns = how, time.monotonic_ns()
            self._recorder.ended(self.talk)


class WayOut:
    """What the broker writes, on its way to the client; a hostility may put other things in its place."""

    def __init__(self, tap: Tap, cutter: Cutter, hostility: Hostility | None) -> None:
        self._tap, self._cutter, self._hostility = tap, cutter, hostility
        self._seen: Counter[str] = Counter()
        self._doing: Iterator[bytes | Act] = iter(())
        self._is_paused = False

    def write(self, octets: bytes) -> None:
        """The broker has written something."""
        if self._hostility is None:
            self._send(octets)
            return
        for name, frame in self._cutter.cut(octets):
            self._seen[name] += 1
            if self._is_trigger(name):
                self._tap.talk.hostile_ns = time.monotonic_ns()
                self._doing = iter(self._hostility.deed(frame))
                self._do()
            else:
                self._send(frame)

    def pause(self) -> None:
        """The client reads slowly."""
        self._is_paused = True

    def resume(self) -> None:
        """The client has caught up: go on with what is under way."""
        self._is_paused = False
        self._do()

    def stop(self) -> None:
        """The connection is gone."""
        self._doing = iter(())

    def _is_trigger(self, name: str) -> bool:
        hostility, talk = self._hostility, self._tap.talk
        return (
            hostility is not None
            and talk.hostile_ns is None
            and hostility.is_meant(name, self._seen[name], talk.number)
        )

    def _do(self) -> None:
        """Do as much as the client takes at once; the rest when the loop has turned."""
        sent = 0
        while not self._is_paused and sent < _AHEAD_OCTETS:
            step = next(self._doing, None)
            if step is None:
                return
            if isinstance(step, Act):
                self._act(step)
            else:
                sent += len(step)
                self._send(step)
        if not self._is_paused:
            asyncio.get_running_loop().call_soon(self._do)

    def _act(self, act: Act) -> None:
        transport = self._tap.transport
        self._tap.is_mute = True
        self._tap.talk.is_silenced = act is Act.SILENCE
        if act is Act.FIN and transport.can_write_eof():
            transport.write_eof()
        elif act is Act.RESET:
            at_once = struct.pack("ii", 1, 0)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self._tap.end("reset by the server")
            transport.abort()

    def _send(self, octets: bytes) -> None:
        if not self._tap.is_mute and not self._tap.transport.is_closing():
            self._tap.keep(Side.SERVER, octets)
            self._tap.transport.write(octets)


class _Tapped:
    """The transport that the broker sees: what it writes goes the way out, and where it is mute it ends nothing."""

    def __init__(self, tap: Tap, way_out: WayOut) -> None:
        self._tap, self.write = tap, way_out.write

    def __getattr__(self, name: str) -> Any:
        if self._tap.is_mute and name in ("write_eof", "close", "abort"):
            return lambda: None
        return getattr(self._tap.transport, name)
