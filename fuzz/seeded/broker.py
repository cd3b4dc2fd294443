"""The reference broker with one planted defect, in a process of its own, so that its death and its memory are real.

Knows: handlers of the reference broker, what each defect does. Must not know: oracles, campaigns.

``python -m fuzz.seeded.broker DEFECT PORT LOG``; ``none`` plants nothing. Ends with its standard input.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from fuzz.seeded.defects import DIALECT, Defect, defect
from harness.reference.methods import outgoing
from harness.reference.methods.handlers import SESSION_HANDLERS, SessionHandler
from harness.reference.methods.link import Link
from harness.reference.methods.session import Session
from harness.reference.model import Entry, Message, Queue
from harness.reference.refusing import RefusedError
from harness.reference.server import ReferenceBroker
from harness.wire.methods import Call

LEAK_OCTETS, LEAKS_AT_MOST = 50 << 20, 6
BURN_S, LATE_S, HANG_S = 3.0, 0.8, 3600.0
_LOG = logging.getLogger("amqpspec.seeded")
_kept: list[bytes] = []

Effect = Callable[[Session, Call, SessionHandler], None]


def _crash(session: Session, call: Call, go_on: SessionHandler) -> None:
    os._exit(70)


def _hang(session: Session, call: Call, go_on: SessionHandler) -> None:
    time.sleep(HANG_S)


def _leak(session: Session, call: Call, go_on: SessionHandler) -> None:
    if len(_kept) < LEAKS_AT_MOST:
        _kept.append(b"x" * LEAK_OCTETS)
    go_on(session, call)


class _Burner:
    """At most one thread burns, each time so many seconds of processor time, however busy the machine is."""

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


def _burn(session: Session, call: Call, go_on: SessionHandler) -> None:
    _burner.strike()
    go_on(session, call)


def _late(session: Session, call: Call, go_on: SessionHandler) -> None:
    def later() -> None:
        try:
            go_on(session, call)
        except RefusedError as refused:
            session.link.say(refused, session.number)
        session.link.core.flush()

    asyncio.get_running_loop().call_later(LATE_S, later)


def _corrupt(session: Session, call: Call, go_on: SessionHandler) -> None:
    for vhost in session.link.core.vhosts.values():
        for queue in vhost.queues.values():
            for entry in queue.ready():
                _bend(entry)
    go_on(session, call)


def _bend(entry: Entry) -> None:
    body = bytearray(entry.message.body)
    if body:
        body[:6] = b"spoilt"
        entry.message = replace(entry.message, body=bytes(body))


def _to_wrong_user(session: Session, call: Call, go_on: SessionHandler) -> None:
    mine = session.link.user
    for link in tuple(session.link.core.links):
        if isinstance(link, Link) and link.user is not mine:
            for other in link.sessions.values():
                for consumer in other.consumers.values():
                    _slip(other, consumer.queue)
    go_on(session, call)


def _slip(other: Session, queue: Queue) -> None:
    """A message that nobody sent there."""
    stored = next((entry.message for q in other.vhost.queues.values() for entry in q.ready()), None)
    if stored is not None:
        consumer = next(c for c in other.consumers.values() if c.queue is queue)
        foreign: Message = replace(stored, body=b"what another user said")
        outgoing.deliver(other, consumer, Entry(_with_size(foreign), 0), False)


def _with_size(message: Message) -> Message:
    """A message whose header announces the body that it has."""
    size = len(message.body).to_bytes(8, "big")
    return replace(message, header=message.header[:4] + size + message.header[12:])


def _throw(session: Session, call: Call, go_on: SessionHandler) -> None:
    try:
        raise RuntimeError("planted: an index that does not fit its table")
    except RuntimeError:
        _LOG.exception("while handling a method")
    go_on(session, call)


_EFFECTS: dict[str, Effect] = {
    "crash": _crash, "hang": _hang, "leak": _leak, "cpu": _burn, "late": _late, "corrupt": _corrupt,
    "wrong-user": _to_wrong_user, "throw": _throw,
}  # fmt: skip


def plant(planted: Defect) -> None:
    """Let a defect strike in this process from now on."""
    effect = _EFFECTS[planted.kind]
    for name in planted.methods:
        SESSION_HANDLERS[name] = _struck(effect, SESSION_HANDLERS[name])


def _struck(effect: Effect, go_on: SessionHandler) -> SessionHandler:
    def handler(session: Session, call: Call) -> None:
        effect(session, call, go_on)

    return handler


def main(name: str, port: str, log: str) -> None:
    """Serve until standard input ends; says the port first."""
    logging.basicConfig(filename=log, level=logging.WARNING)
    broker = ReferenceBroker(DIALECT, port=int(port))
    if name != "none":
        plant(defect(name))
    broker.start()
    print(broker.port, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
