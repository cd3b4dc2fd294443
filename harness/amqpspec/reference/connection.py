"""The broker's end of a client's connection, for any dialect: its socket, its output, its timeouts, its end.

Knows: when octets are read and written, the time limits of a connection, how to end a socket so that the peer can
read everything that was sent. Must not know: any protocol.

The connection class of each family knows the meaning of octets, the phases, and the form of a refusal.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, ClassVar, cast

from amqpspec.reference.core import Core
from amqpspec.reference.model import User, VirtualHost
from amqpspec.reference.model.room import OutOfRoom
from amqpspec.reference.refusing import RefusedError
from amqpspec.reference.signs import SignsOfLife
from amqpspec.wire.conversation import Address

LINGER_S = 2.0
_TURN_OCTETS = 1 << 20
_LOG = logging.getLogger(__name__)


def end_without_fin(transport: asyncio.Transport) -> None:
    """End the socket with a reset, which discards data that the peer has not read yet."""
    linger_no_time = struct.pack("ii", 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_no_time)


class BrokerConnection(asyncio.Protocol, ABC):
    """One connection; a family implements how it reads (``take``), refuses (``say``) and closes (``close``)."""

    OPEN: ClassVar[Enum]
    """The phase between a successful handshake and the beginning of the end."""
    MUTE: ClassVar[Enum]
    """The phase of a connection that neither reads nor writes and does not end; only a fault causes it."""
    ENDED: ClassVar[Enum]
    """The phase in which the socket has ended, or ends as soon as the peer has read what was sent."""
    GOING_DOWN: ClassVar[Any]
    """The code of a close when the broker stops."""
    INTERNAL_ERROR: ClassVar[Any]
    """The code of a close after an internal error of the broker."""
    NO_ROOM: ClassVar[Any]
    """The code of a close when the broker holds as many messages as it may."""

    phase: Enum
    transport: asyncio.Transport

    def __init__(self, core: Core) -> None:
        self.core, self.on, self.faulty = core, core.on, core.faulty
        self.user: User | None = None
        self.vhost: VirtualHost | None = None
        self.signs = SignsOfLife(self)
        self.congested = self._stuck = False
        self._out: list[bytes] = []
        self._out_octets = 0
        self._timer: asyncio.TimerHandle | None = None

    # --- implemented by each family

    @abstractmethod
    def take(self, data: bytes) -> None:
        """Handle octets that have arrived."""

    @abstractmethod
    def send_refusal(self, refused: RefusedError) -> None:
        """Report a refusal to the client, at its scope."""

    @abstractmethod
    def close(self, code: Any, text: str) -> None:
        """Refuse at the scope of the connection: send close, then wait for the other side's close."""

    # --- optional for a protocol

    def refuse(self, rule: str, text: str) -> None:
        """Refuse the last frame, by the violated rule; raises RefusedError unless a fault tolerates it."""
        self.core.refuse(rule, text)

    def release(self) -> None:
        """Give back everything that this connection holds."""

    def pump(self) -> None:
        """Windows, credit or the socket have changed: let everything that has something to send check again."""

    def forget_frame(self) -> None:
        """Forget the channel, session or link of the last frame: a refusal now concerns none of them."""

    def refuse_silence(self) -> None:
        """Refuse because nothing has arrived for too long."""

    def sign_of_life(self) -> None:
        """Send a sign of life."""

    # --- the socket

    def forgives(self, deviation: str) -> bool:
        """Whether a common deviation is tolerated; then it is reported."""
        if self.core.forgave is None:
            return False
        self.core.forgave(self._remote, deviation)
        return True

    @property
    def _remote(self) -> Address:
        host, port = self.transport.get_extra_info("peername")[:2]
        return host, port

    @property
    def silent(self) -> bool:
        """Whether nothing is read or written any more."""
        return self.phase is self.ENDED or self.phase is self.MUTE

    def choose_vhost(self, name: str, unknown: str, forbidden: str) -> None:
        """Select a virtual host; a missing one, or one of another user, violates rules."""
        vhost = self.core.vhosts.get(name)
        if vhost is None:
            self.refuse(unknown, f"no virtual host {name!r}")
            vhost = self.core.vhosts["/"]
        elif self.user is not None and name not in self.user.vhosts:
            self.refuse(forbidden, f"{self.user.name} may not open {name!r}")
        self.vhost = vhost

    @property
    def over_tls(self) -> bool:
        """Whether the octets of this connection are encrypted."""
        return self.transport.get_extra_info("ssl_object") is not None

    @property
    def certificate_name(self) -> str:
        """The name in a TLS client's certificate; empty if there is none."""
        certificate = self.transport.get_extra_info("peercert") or {}
        names = (pair for group in certificate.get("subject", ()) for pair in group)
        return next((value for key, value in names if key == "commonName"), "")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected: start the time limit of the login."""
        self.transport = cast(asyncio.Transport, transport)
        self.core.connections.add(self)
        if self.core.crashed:
            self.abort()
            return
        self.after(self.core.login_s, self.end_socket)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self.phase = self.ENDED
        self.after(None)
        self.signs.stop()
        self._out.clear()
        self.core.with_output.discard(self)
        self.core.connections.discard(self)
        self.release()
        self.core.flush()

    def eof_received(self) -> bool:
        """The client has ended its side, and the broker ends its own."""
        return False

    def data_received(self, data: bytes) -> None:
        """Octets have arrived."""
        if self.silent:
            return
        try:
            self.take(data)
        finally:
            self.core.flush()

    def guarded(self, step: Callable[[], bool]) -> bool:
        """Handle arrivals, and report a refusal; returns whether there may be more to handle."""
        self.forget_frame()
        try:
            return step()
        except RefusedError as refused:
            if refused.is_bare and self.core.refused is not None:
                self.core.refused(self._remote, f"{refused.text} [{refused.rule}]")
            self.send_refusal(refused)
        except OutOfRoom as full:
            self.close(self.NO_ROOM, str(full))
        except Exception:
            _LOG.exception("internal error of a reference broker")
            self.close(self.INTERNAL_ERROR, "internal error")
        return True

    # --- output: it is collected, and sent with one write when all arrivals are handled

    def pause_writing(self) -> None:
        """The client reads too slowly: nothing new is started, so that memory is limited."""
        self._stuck = self.congested = True

    def resume_writing(self) -> None:
        """The client reads again; asyncio calls this from within a write, so continue after it."""
        self._stuck = False
        asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        if self._stuck:
            return
        self.congested = False
        self.caught_up()
        self.core.flush()

    def caught_up(self) -> None:
        """The client reads again: continue if nothing new was started."""
        self.pump()

    def write(self, *pieces: bytes) -> None:
        """Octets for the next write.

        After a large amount nothing new is started until the next turn of the loop: otherwise, if the client reads
        as fast as the broker writes, a busy channel or session would send everything before any other.
        """
        if self.silent:
            return
        self._out += pieces
        self._out_octets += sum(map(len, pieces))
        self.core.with_output.add(self)
        if self._out_octets > _TURN_OCTETS:
            self.flush()
            self.congested = True
            asyncio.get_running_loop().call_soon(self._resume)

    def flush(self) -> None:
        """Write the collected octets."""
        if not self._out:
            return
        if not self.transport.is_closing():
            self.transport.write(b"".join(self._out))
        self._out.clear()
        self._out_octets = 0
        self.signs.sent()

    # --- time

    def after(self, delay_s: float | None, action: Callable[[], object] | None = None) -> None:
        """Schedule an action in place of the scheduled one; None: cancel it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if delay_s is not None and action is not None:
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._run, action)

    def _run(self, action: Callable[[], object]) -> None:
        self._timer = None
        action()
        self.core.flush()

    def established(self) -> None:
        """The handshake is complete: the connection has no time limit any more."""
        self.after(None)

    def close_silent_peer(self) -> None:
        """Nothing has arrived for too long."""
        self.guarded(self._refuse_silence)
        self.core.flush()

    def _refuse_silence(self) -> bool:
        self.refuse_silence()
        return True

    # --- the end

    def end_socket(self) -> None:
        """End the socket so that the peer can read everything that was sent.

        Only the sending side is closed, and arrivals are read and dropped: closing a socket with unread octets makes
        the kernel send a reset, which would discard the refusal that the peer has not read yet.
        """
        if self.phase is self.ENDED:
            return
        self.release()
        self.flush()
        self.phase = self.ENDED
        self.signs.stop()
        self.core.with_output.discard(self)
        if self.transport.can_write_eof():
            with suppress(OSError):
                self.transport.write_eof()
            self.after(LINGER_S, self.transport.abort)
        else:  # TLS has no half-closed state that peers tolerate
            self.transport.close()

    def shut_down(self, text: str) -> None:
        """The broker stops: report it, and end."""
        if self.phase is self.OPEN:
            self.forget_frame()
            self.close(self.GOING_DOWN, text)
        self.end_socket()

    def abort(self) -> None:
        """End the socket at once."""
        self.transport.abort()

    def reset(self) -> None:
        """End the socket with a reset; only a fault does that."""
        end_without_fin(self.transport)
        self.abort()

    # --- actions of an operator; without effect if the protocol has none

    def ask_flow(self, active: bool) -> None:
        """Ask the client to pause or resume its contents."""

    def block(self, reason: str) -> None:
        """Tell the client that publishing is blocked."""

    def unblock(self) -> None:
        """Tell the client that publishing is possible again."""
