"""A relay between clients and a broker: forwards all data and reports it to a recorder.

Knows: asyncio's streams. Must not know: dialects, which side is judged.

If one side stops reading, the relay stops reading from the other, so that no data accumulate.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from amqpspec.net.clock import monotonic_ns
from amqpspec.net.stream import Endpoint
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Recorder, Room, Talk

_AT_ONCE_OCTETS = 1 << 16
_CONNECT_S, _LOOK_S = 10.0, 0.1


class CannotListen(OSError):
    """The address to listen on is not available; the message states the address and the reason."""


@dataclass(frozen=True, slots=True)
class Listening:
    """The address of a relay; port 0 selects a free port."""

    host: str
    port: int


def pass_on(
    listening: Listening,
    to: Endpoint,
    recorder: Recorder,
    stop: threading.Event,
    on_listening: Callable[[Listening], None],
) -> None:
    """Relay connections until ``stop`` is set; ``told`` is called with the address. Raises CannotListen."""
    asyncio.run(_pass_on(listening, to, recorder, stop, on_listening))


async def _pass_on(
    listening: Listening,
    to: Endpoint,
    recorder: Recorder,
    stop: threading.Event,
    on_listening: Callable[[Listening], None],
) -> None:
    relay = _Relay(to, recorder)
    try:
        server = await asyncio.start_server(relay.serve, listening.host, listening.port)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        raise CannotListen(
            f"cannot listen on {listening.host}, port {listening.port or 'any'}: {why}"
        ) from error
    on_listening(Listening(listening.host, server.sockets[0].getsockname()[1]))
    try:
        while not stop.is_set():
            await asyncio.sleep(_LOOK_S)
    finally:
        server.close()
        await relay.hang_up()


class _Relay:
    def __init__(self, to: Endpoint, recorder: Recorder) -> None:
        self._to, self._recorder, self._room = to, recorder, Room()
        self._numbers = count(1)
        self._serving: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one client's connection, from beginning to end."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        local, remote = (writer.get_extra_info(name)[:2] for name in ("sockname", "peername"))
        talk = Talk(next(self._numbers), local, remote, room=self._room)
        self._recorder.began(talk)
        try:
            await self._between(talk, reader, writer)
        finally:
            writer.transport.abort()
            self._serving.discard(task)
            self._recorder.lost(talk)

    async def _between(self, talk: Talk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (self._to.server_name or self._to.host) if self._to.tls else None
        opening = asyncio.open_connection(
            self._to.host, self._to.port, ssl=self._to.tls, server_hostname=name
        )
        try:
            there_reader, there_writer = await asyncio.wait_for(opening, _CONNECT_S)
        except (OSError, TimeoutError):
            talk.is_left = True
            return
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(talk, Side.CLIENT, reader, there_writer))
                both.create_task(self._pump(talk, Side.SERVER, there_reader, writer))
        finally:
            there_writer.transport.abort()

    async def _pump(
        self, talk: Talk, sender: Side, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Forward the data of one side until it ends."""
        how = "FIN"
        try:
            while octets := await reader.read(_AT_ONCE_OCTETS):
                at_ns = monotonic_ns()
                talk.add(sender, at_ns, octets)
                self._recorder.octets(talk, sender, at_ns, octets)
                writer.write(octets)
                await writer.drain()
        except ConnectionError:
            how = "RST"
        self._end(talk, sender, how)
        with suppress(OSError):
            if how == "RST":
                writer.transport.abort()
            elif writer.can_write_eof():
                writer.write_eof()
            else:
                writer.close()

    def _end(self, talk: Talk, sender: Side, how: str) -> None:
        if sender is Side.SERVER:
            talk.is_left = talk.is_left or not talk.ended
        elif not talk.ended and not talk.is_left:
            talk.ended, talk.ended_ns = how, monotonic_ns()
            self._recorder.ended(talk)

    async def hang_up(self) -> None:
        """End every connection."""
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
