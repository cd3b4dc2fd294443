"""A tap between a reference broker and its sockets: records all traffic, and lets a hostile server take the broker's
place.

Knows: asyncio's transports and protocols. Must not know: any dialect; a ``Cutter`` knows its frames.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, cast

from amqpspec.reference.connection import end_without_fin
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import RESET_BY_SERVER, Cutter, Reading, Recorder, Room, Talk
from amqpspec.wire.hostility import Act, Deed, Hostility

_AHEAD_OCTETS = 1 << 20
_UNREAD_OCTETS = 16 << 20
"""More than a kernel buffers for a connection."""
_LOGIN_OCTETS = 64 << 10
"""A client must select its hostility within this many octets (each time, all of them are read again)."""


@dataclass(frozen=True, slots=True)
class Manners:
    """The behaviour of a server: ``hostility`` on the connection that it names, or the one that a client selects."""

    reading: Reading
    hostility: Hostility | None = None
    by_place: Mapping[str, Hostility] = field(default_factory=dict)
    room: Room = field(default_factory=Room)

    def of_place(self, talk: Talk) -> Hostility | None:
        """The hostility that the client has selected; None if there is none, or if it is not known yet."""
        if not self.by_place or talk.kept_octets > _LOGIN_OCTETS:
            return None
        found = self.by_place.get(self.reading.place(talk) or "")
        return None if found is None else replace(found, connection=talk.number)


def tapped(recorder: Recorder, manners: Manners) -> Callable[[asyncio.Protocol], asyncio.Protocol]:
    """The tap for all connections of a broker; they are numbered from 1."""
    numbers = count(1)

    def through(own: asyncio.Protocol) -> asyncio.Protocol:
        return Tap(own, Talk(next(numbers), room=manners.room), recorder, manners)

    return through


class Tap(asyncio.Protocol):
    """One connection: precedes the broker's end of it."""

    def __init__(
        self,
        inner: asyncio.Protocol,
        talk: Talk,
        recorder: Recorder,
        manners: Manners,
    ) -> None:
        self.inner, self.talk, self._recorder, self._manners = inner, talk, recorder, manners
        self._way_out = WayOut(self, manners.reading.cutter(), manners.hostility)
        self.transport: asyncio.Transport
        self.is_mute = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.talk.local, self.talk.remote = (
            transport.get_extra_info(n)[:2] for n in ("sockname", "peername")
        )
        self._recorder.began(self.talk)
        self.inner.connection_made(cast(asyncio.Transport, _Tapped(self, self._way_out)))

    def data_received(self, data: bytes) -> None:
        """Data from the client has arrived."""
        self.keep(Side.CLIENT, data)
        if self._way_out.hostility is None:
            self._way_out.hostility = self._manners.of_place(self.talk)
        if not self.is_mute:
            self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        """The client has closed its side."""
        self.end("FIN")
        return None if self.is_mute else self.inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket has ended."""
        if isinstance(exc, ConnectionError):
            for octets in _unread(self.transport):
                self.keep(Side.CLIENT, octets)
            self.end("RST")
        self._way_out.stop()
        self.inner.connection_lost(exc)
        self._recorder.lost(self.talk)

    def pause_writing(self) -> None:
        """The client reads slowly."""
        self._way_out.pause()
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._way_out.resume()
        self.inner.resume_writing()

    def keep(self, sender: Side, octets: bytes) -> None:
        """Record traffic."""
        at_ns = time.monotonic_ns()
        self.talk.add(sender, at_ns, octets)
        self._recorder.octets(self.talk, sender, at_ns, octets)

    def end(self, how: str) -> None:
        """The client's side has ended."""
        if not self.talk.ended:
            self.talk.ended, self.talk.ended_ns = how, time.monotonic_ns()
            self._recorder.ended(self.talk)


class WayOut:
    """The broker's output for the client; a hostility may replace it."""

    def __init__(self, tap: Tap, cutter: Cutter, hostility: Hostility | None) -> None:
        self._tap, self._cutter, self.hostility = tap, cutter, hostility
        self._seen: Counter[str] = Counter()
        self._doing: Iterator[bytes | Act] | None = None
        self._behind: list[bytes] = []
        self._is_paused = False
        self._passes: Callable[[bytes], bool] = _always
        self._ending: asyncio.TimerHandle | None = None

    def write(self, octets: bytes) -> None:
        """The broker has written data; output during an action follows after it."""
        for name, frame in self._cutter.cut(octets):
            self._seen[name] += 1
            if not self._passes(frame):
                continue
            if self.is_acting:
                self._behind.append(frame)
            elif (hostility := self._triggered(name)) is not None:
                self._begin(hostility, frame)
            else:
                self._send(frame)

    def _begin(self, hostility: Hostility, frame: bytes) -> None:
        self._tap.talk.hostile_ns = time.monotonic_ns()
        if hostility.passing is not None:
            self._passes = hostility.passing(frame)
        self._doing = _steps(hostility.deed, frame)
        self._do()

    @property
    def is_acting(self) -> bool:
        """Whether an action is in progress."""
        return self._doing is not None

    def pause(self) -> None:
        """The client reads slowly."""
        self._is_paused = True

    def resume(self) -> None:
        """The client reads again: continue the current action."""
        self._is_paused = False
        self._do()

    def stop(self) -> None:
        """The connection is gone."""
        self._doing = None
        self._behind.clear()
        if self._ending is not None:
            self._ending.cancel()

    def _triggered(self, name: str) -> Hostility | None:
        hostility, talk = self.hostility, self._tap.talk
        if hostility is None or talk.hostile_ns is not None:
            return None
        return hostility if hostility.is_meant(name, self._seen[name], talk.number) else None

    def _do(self) -> None:
        """Send as much as the client accepts at once; the rest in the next turn of the loop."""
        sent = 0
        while self._doing is not None and not self._is_paused and sent < _AHEAD_OCTETS:
            step = self._step(self._doing)
            if step is None:
                self._done()
                return
            if isinstance(step, Act):
                self._act(step)
            else:
                sent += len(step)
                self._send(step)
        if self.is_acting and not self._is_paused:
            asyncio.get_running_loop().call_soon(self._do)

    def _step(self, doing: Iterator[bytes | Act]) -> bytes | Act | None:
        """The next step; None after the last one, or if the action itself fails."""
        try:
            return next(doing, None)
        except Exception as error:
            # The layers above do not know about actions; the judge of the connection has to be informed.
            self._tap.talk.amiss = f"{type(error).__name__}: {error}"
            return None

    def _done(self) -> None:
        """The action is finished: send what the broker wrote meanwhile."""
        self._doing, behind, self._behind = None, self._behind, []
        for frame in behind:
            self._send(frame)
        if self.hostility is not None and self.hostility.ends_after_s is not None:
            loop = asyncio.get_running_loop()
            self._ending = loop.call_later(self.hostility.ends_after_s, self._act, Act.FIN)

    def _act(self, act: Act) -> None:
        transport = self._tap.transport
        self._tap.is_mute = True
        self._tap.talk.is_silenced = act is Act.SILENCE
        if act is Act.FIN and transport.can_write_eof():
            transport.write_eof()
        elif act is Act.RESET:
            end_without_fin(transport)
            self._tap.end(RESET_BY_SERVER)
            transport.abort()

    def _send(self, octets: bytes) -> None:
        if not self._tap.is_mute and not self._tap.transport.is_closing():
            self._tap.keep(Side.SERVER, octets)
            self._tap.transport.write(octets)


def _unread(transport: asyncio.Transport) -> Iterator[bytes]:
    """What the client sent before its reset, if a failed write came before the read; nothing of TLS.

    After a failed write asyncio stops reading, although a last frame of the client may have arrived.
    """
    if transport.get_extra_info("sslcontext") is not None:
        return
    descriptor, left = transport.get_extra_info("socket").fileno(), _UNREAD_OCTETS
    with suppress(OSError):
        while left > 0 and (octets := os.read(descriptor, _AHEAD_OCTETS)):
            yield octets
            left -= len(octets)


def _steps(deed: Deed, frame: bytes) -> Iterator[bytes | Act]:
    """The steps of an action in place of a frame; nothing is computed before the first step is requested."""
    yield from deed(frame)


def _always(frame: bytes) -> bool:
    return True


class _Tapped:
    """The transport that the broker uses: its output passes through the tap, which ignores the broker's end if a
    hostility is mute.
    """

    def __init__(self, tap: Tap, way_out: WayOut) -> None:
        self._tap, self._way_out, self.write = tap, way_out, way_out.write

    def write_eof(self) -> None:
        """The broker has ended its output: a hostility's remaining steps are not sent after its FIN."""
        self._end(self._tap.transport.write_eof)

    def close(self) -> None:
        """The broker ends the connection."""
        self._end(self._tap.transport.close)

    def abort(self) -> None:
        """The broker ends the connection at once."""
        self._end(self._tap.transport.abort)

    def _end(self, end: Callable[[], None]) -> None:
        if self._tap.is_mute:
            return
        self._way_out.stop()
        self._tap.talk.is_left = self._tap.talk.is_left or not self._tap.talk.ended
        end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tap.transport, name)
