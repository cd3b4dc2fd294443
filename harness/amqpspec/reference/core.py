"""The state of one broker: virtual hosts, users, faults, and connections.

Knows: which connections have output, and makes each write it at once; the effect of a restart. Must not know:
threads, ports, or any protocol; a connection is anything that implements ``Connected``.
"""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache, partial
from importlib import metadata
from itertools import count
from typing import Any, Protocol

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.late import Lateness
from amqpspec.reference.leniency import Forgave
from amqpspec.reference.model import DEFAULT_USERS, DEFAULT_VHOSTS, User, VirtualHost
from amqpspec.reference.model.queues import Queue
from amqpspec.reference.model.room import MOST_OCTETS, Room
from amqpspec.reference.refusing import Refused, Refuser

TICK_S = 0.02
PRODUCT = "amqpspec reference broker"
MAX_MESSAGE_OCTETS = 1 << 20
"""The default of the largest message, in dialects that announce it."""
HANDSHAKE_S = 10.0
"""The default time limit of a login."""


class Connected(Protocol):
    """One connection, as the broker sees it."""

    def flush(self) -> None:
        """Write the collected octets."""

    def shut_down(self, text: str) -> None:
        """End cleanly, because the broker stops."""

    def abort(self) -> None:
        """End at once."""


class Core:
    """One broker."""

    def __init__(
        self,
        dialect_id: str,
        on: Deviations,
        host: str,
        handshake_pause_s: float | None = None,
        late_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.dialect_id, self.on, self.host = dialect_id, on, host
        self.handshake_pause_s = handshake_pause_s
        self.login_s, self.product = HANDSHAKE_S, PRODUCT
        self.max_message_octets = MAX_MESSAGE_OCTETS
        self.forgave: Forgave | None = None
        """Called with each tolerated deviation; None if nothing is tolerated."""
        self.refused: Refused | None = None
        """Called with the reason if a client was refused without a reason on the wire."""
        self.faulty = on.faulty
        self.refuse = Refuser(dialect_id, on).refuse
        self.users: dict[str, User] = {user.name: user for user in DEFAULT_USERS}
        self.later = Lateness(late_s, self.flush)
        self.room = Room(self._queues, MOST_OCTETS)
        self._make_vhost = partial(VirtualHost, on=on, clock=clock, later=self.later)
        self.vhosts = {name: self._make_vhost(name) for name in DEFAULT_VHOSTS}
        if on.faulty("virtual-hosts-shared"):
            self.vhosts = dict.fromkeys(DEFAULT_VHOSTS, self.vhosts["/"])
        self.connections: set[Connected] = set()
        self.with_output: set[Connected] = set()
        self.numbers = count(1)
        self._ticking = False
        self.crashed = False
        """Whether the broker has died of something, and ends every connection at once; only faults cause it."""

    def server_properties(self, *, complete: bool) -> dict[str, Any]:
        """What a broker of the 0-9 family or of 0-10 says of itself; without two required properties if incomplete."""
        properties = {
            "product": self.product,
            "version": own_version(),
            "platform": own_platform(),
            "copyright": "Copyright (c) 2026 The amqpspec authors",
            "information": "Licensed under the MIT licence",
            "host": self.host,
        }
        if not complete:
            del properties["information"], properties["host"]
        return properties

    def _queues(self) -> Iterator[Queue]:
        """Every queue of every virtual host."""
        for vhost in self.vhosts.values():
            yield from vhost.queues.values()

    def add_vhosts(self, names: Collection[str]) -> None:
        """Add virtual hosts for every user that may work."""
        self.vhosts.update({name: self._make_vhost(name) for name in names})
        for user in self.users.values():
            if user.may_work:
                self.users[user.name] = replace(user, vhosts=user.vhosts | set(names))

    def flush(self) -> None:
        """Let every connection write; this may cause further output."""
        while self.with_output:
            self.with_output.pop().flush()
        if not self._ticking:
            self._watch_time()

    def _watch_time(self) -> None:
        if any(vhost.timed for vhost in self.vhosts.values()):
            self._ticking = True
            asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        self._ticking = False
        for vhost in self.vhosts.values():
            vhost.tick()
        self.flush()

    def restart(self) -> None:
        """Stop cleanly and start again with durable data."""
        for connection in tuple(self.connections):
            connection.shut_down("the broker restarts")
        self.crashed = False
        self.later.catch_up()
        for vhost in {id(v): v for v in self.vhosts.values()}.values():
            vhost.restart()
        self.flush()

    def crash_soon(self) -> None:
        """Die at the end of this turn of the loop, so that a refusal still goes out; only faults do that."""
        asyncio.get_running_loop().call_soon(self._crash)

    def _crash(self) -> None:
        self.crashed = True
        self.stop()

    def stop(self) -> None:
        """End every connection at once."""
        for connection in tuple(self.connections):
            connection.abort()


@cache
def own_version() -> str:
    """The version of this program, as a broker announces it."""
    try:
        return metadata.version("amqpspec")
    except metadata.PackageNotFoundError:
        return "0"


@cache
def own_platform() -> str:
    """The platform, as a broker announces it."""
    return f"Python {platform.python_version()} on {platform.system()}"


FAULTS = fault_table("""
virtual-hosts-shared: all virtual hosts are one
    [connection/open/virtual-host/separation-entities connection/open/virtual-host/separation-access]
""")
