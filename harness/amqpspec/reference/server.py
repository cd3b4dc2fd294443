"""The public interface of reference brokers: start, URL, restart, stop.

Knows: ports, TLS, threads. Must not know: any protocol; the registry of dialects does.

::

    with ReferenceBroker("amqp-0-9-1", faults=["purge-drops-unacked"]) as broker:
        connect_to(broker.url)
        broker.restart()
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any, Self, cast

from amqpspec.reference.core import HANDSHAKE_S, MAX_MESSAGE_OCTETS, PRODUCT, Core
from amqpspec.reference.deviations import Deviations
from amqpspec.reference.faults import check_faults
from amqpspec.reference.host import ReferenceHost, shared_host
from amqpspec.reference.leniency import Forgave
from amqpspec.reference.refusing import Refused
from amqpspec.spec.dialects import part_of

BACKLOG = 4096
_TURNS = 4
Connect = Callable[[Core], asyncio.Protocol]
"""Makes the broker's end of one connection."""
Through = Callable[[asyncio.Protocol], asyncio.Protocol]
"""Inserts an object between the broker's end of a connection and its socket."""


class ReferenceBroker:
    """A broker of one dialect, in memory, correct except for the faults that it was given.

    ``dialect`` also says which tags field tables have: those of the specification or those in use. Users are
    guest/guest, second/second (may do everything, and open "forbidden") and limited/limited (may open "/" and nothing
    else). ``handshake_pause_s`` is how long a handshake that went wrong waits for its end, where the dialect's own
    measure will not do. ``late_s`` is how far what the broker says by itself comes after its cause (``late``).
    ``through`` stands between each connection and its socket; ``vhosts`` are there besides those of every broker.
    ``login_s`` is how long a client may take to log in, ``product`` what the broker calls itself. With ``forgave`` it
    is lenient: it tolerates what is common in the field, and reports it there (``leniency``), on the loop. ``refused``
    is called, on the loop as well, with the reason why a client was refused silently. AMQP 1.0 announces
    ``max_message_octets``. ``port`` 0 takes a free one and keeps it over restarts. Raises UnknownFaultError for an
    unknown fault.
    """

    def __init__(
        self,
        dialect: str = "amqp-0-9-1",
        faults: Collection[str] = (),
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        on: ReferenceHost | None = None,
        handshake_pause_s: float | None = None,
        late_s: float = 0.0,
        through: Through | None = None,
        vhosts: Collection[str] = (),
        login_s: float = HANDSHAKE_S,
        product: str = PRODUCT,
        forgave: Forgave | None = None,
        refused: Refused | None = None,
        max_message_octets: int = MAX_MESSAGE_OCTETS,
    ) -> None:
        self.handshake_pause_s, self.late_s = handshake_pause_s, late_s
        self._through, self._vhosts, self._login_s = through, vhosts, login_s
        self._product, self._forgave, self._refused = product, forgave, refused
        self._max_message_octets = max_message_octets
        self.dialect, self.host, self.port, self._tls = dialect, host, port, tls
        self.faults = check_faults(faults, dialect)
        self._connect = connection_of(dialect)
        self._on = on
        self._core: Core | None = None
        self._server: asyncio.Server | None = None

    # --- life

    def start(self) -> str:
        """Listen; returns the URL. Raises OSError for an address that is not available."""
        self._host().call(self._start())
        return self.url

    def stop(self) -> None:
        """End every connection and stop listening."""
        if self._server is not None:
            self._host().call(self._stop())

    def restart(self) -> None:
        """Drop all connections and all data that is not durable; the port stays the same."""
        self._host().call(self._restart())

    @property
    def url(self) -> str:
        """The URL of the default user and the default virtual host."""
        scheme = "amqp" if self._tls is None else "amqps"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://guest:guest@{host}:{self.port}/%2F"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- actions of an operator

    def flow(self, active: bool) -> None:
        """Ask every client to pause or resume its contents."""
        self._host().call(self._each("ask_flow", active))

    def block(self, reason: str) -> None:
        """Notify every client that supports it that publishing is blocked."""
        self._host().call(self._each("block", reason))

    def unblock(self) -> None:
        """Notify every client that supports it that publishing is possible again."""
        self._host().call(self._each("unblock"))

    # --- on the loop

    def _host(self) -> ReferenceHost:
        if self._on is None:
            self._on = shared_host()
        return self._on

    async def _start(self) -> None:
        core = Core(self.dialect, Deviations(self.faults), self.host, self.handshake_pause_s, self.late_s)
        core.add_vhosts(self._vhosts)
        core.login_s, core.product, core.forgave = self._login_s, self._product, self._forgave
        core.refused, core.max_message_octets = self._refused, self._max_message_octets
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: self._end_of_connection(core),
            self.host,
            self.port,
            ssl=self._tls,
            backlog=BACKLOG,
            reuse_address=True,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._core = core

    def _end_of_connection(self, core: Core) -> asyncio.Protocol:
        own = self._connect(core)
        return own if self._through is None else self._through(own)

    async def _stop(self) -> None:
        if self._server is not None and self._core is not None:
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())
            for _ in range(_TURNS):  # connections that were just accepted are created first
                await asyncio.sleep(0)
            self._server.close()
            self._server = None
            self._core.stop()
            for _ in range(_TURNS):
                await asyncio.sleep(0)

    async def _restart(self) -> None:
        if self._core is not None:
            self._core.restart()

    async def _each(self, action: str, *args: Any) -> None:
        if self._core is not None:
            for connection in tuple(self._core.connections):
                getattr(connection, action)(*args)
            self._core.flush()


def connection_of(dialect: str) -> Connect:
    """The factory of a dialect's connections; raises UnknownDialectError."""
    return cast(Connect, part_of(dialect, "reference"))


async def serve_forever(broker: ReferenceBroker) -> None:
    """Serve on the running loop until cancelled: for the command line."""
    await broker._start()
    try:
        await asyncio.Event().wait()
    finally:
        await broker._stop()
