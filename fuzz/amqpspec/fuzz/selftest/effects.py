"""What planted defects do inside a reference broker, whichever dialect it serves.

Knows: the model that all reference brokers share. Must not know: any dialect, where a defect strikes, oracles.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.fuzz.selftest.part import BrokerSeams, Connection
from amqpspec.reference.model import Entry
from amqpspec.reference.refusing import RefusedError

LEAK_OCTETS, LEAKS_AT_MOST = 50 << 20, 6
BURN_S, LATE_S, HANG_S = 3.0, 0.8, 3600.0
_BENT_OCTETS = 6
_LOG = logging.getLogger("amqpspec.seeded")
_kept: list[bytes] = []

GoOn = Callable[[], None]
Effect = Callable[[Connection, GoOn, BrokerSeams], None]


def _crash(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    os._exit(70)


def _hang(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    time.sleep(HANG_S)


def _leak(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    if len(_kept) < LEAKS_AT_MOST:
        _kept.append(b"x" * LEAK_OCTETS)
    go_on()


class _Burner:
    """At most one thread burns CPU time, this many seconds at a time, however busy the machine is."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def strike(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._spin, daemon=True)
            self._thread.start()

    def _spin(self) -> None:
        while time.thread_time() < BURN_S:
            sum(range(1000))


_burner = _Burner()


def _burn(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    _burner.strike()
    go_on()


def _late(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    def later() -> None:
        if connection.transport.is_closing():
            return
        connection.forget_frame()
        try:
            go_on()
        except RefusedError as refused:
            connection.send_refusal(refused)
        connection.core.flush()

    asyncio.get_running_loop().call_later(LATE_S, later)


def _corrupt(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    for vhost in connection.core.vhosts.values():
        for queue in vhost.queues.values():
            for entry in queue.ready():
                _bend(entry)
    go_on()


def _bend(entry: Entry) -> None:
    """Bend the last octets: in AMQP 1.0 the first ones say what kind of body follows."""
    body = bytearray(entry.message.body)
    if len(body) > _BENT_OCTETS:
        body[-_BENT_OCTETS:] = b"spoilt"
        entry.message = replace(entry.message, body=bytes(body))


def _to_wrong_user(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    """Messages in any queue also go to consumers of another user."""
    queues = [queue for vhost in connection.core.vhosts.values() for queue in vhost.queues.values()]
    stored = next((entry.message for queue in queues for entry in queue.ready()), None)
    for other in tuple(connection.core.connections):
        if other is not connection and getattr(other, "user", None) is not connection.user:
            for consumer in seams.consumers(other):
                if stored is not None:
                    seams.deliver(consumer, stored)
    go_on()


def _throw(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    try:
        raise RuntimeError("planted: an index that does not fit its table")
    except RuntimeError:
        _LOG.exception("while handling a frame")
    go_on()


def _mute(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    """What arrives later on this connection is taken, and nothing is done with it."""
    _charmed[connection] = lambda incoming: None
    go_on()


def _mixed_up(connection: Connection, go_on: GoOn, seams: BrokerSeams) -> None:
    """Later arrivals on this connection are handled on the next channel."""
    _charmed[connection] = seams.beside
    go_on()


_charmed: WeakKeyDictionary[Connection, Callable[[Any], Any]] = WeakKeyDictionary()


def as_taken(connection: Connection, incoming: Any) -> Any:
    """A frame as a connection that has been struck takes it: None if it takes it for nothing."""
    charm = _charmed.get(connection)
    return incoming if charm is None else charm(incoming)


EFFECTS: dict[str, Effect] = {
    "crash": _crash, "hang": _hang, "leak": _leak, "cpu": _burn, "late": _late, "corrupt": _corrupt,
    "wrong-user": _to_wrong_user, "throw": _throw,
    "mute": _mute, "mixed-up": _mixed_up,
}  # fmt: skip
"""What each kind of defect does when it takes effect; ``go_on`` is what a sound broker does with the frame."""
