"""AMQP 0-10 as the runner needs it: see ``amqpspec.run.driver.Driver``.

Knows: the handshake, a round trip, deleting queues and exchanges. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Context, Login, Unmet
from amqpspec.peer.events import Quiet
from amqpspec.peer.sasl import conversation
from amqpspec.run.amqp_0_10.lacking import lacking
from amqpspec.run.driver import (
    Entity,
    Identity,
    as_ordered,
    only_frame,
    probing,
    readable,
    round_trip_s,
    text,
)
from amqpspec.wire.amqp_0_10.direction import AssemblyDirection
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.direction import Direction

__all__ = ["delete", "direction", "lacking", "peer", "probe", "recognise", "with_login"]

_SHARE_OF_PATIENCE = 0.2
_STAR = ord("*")


def peer(context: Context) -> Peer:
    """What a case drives."""
    return Peer(context)


def direction(dialect_id: str, direction: str) -> Direction:
    """A decoder of one direction for evidence."""
    return AssemblyDirection(direction)


recognise = as_ordered


# --- the probe


def probe(context: Context) -> Identity:
    """Log in, attach a session, measure round trips, pass a message, close; raises ProbeFailed."""
    peer = Peer(context)
    with probing(peer) as step:
        peer.connect()
        step.now = f"start the handshake of {peer.dialect.id}"
        peer.greet()
        step.now = f"log in as {context.login.user!r} and open virtual host {context.login.vhost!r}"
        peer.start_ok()
        peer.tune()
        peer.call_control("connection.open", virtual_host=context.login.vhost)
        peer.opened = True
        step.now = "attach a session"
        peer.open_session()
        trip_s = round_trip_s(peer.barrier, trips=2)
        step.now = "pass a message through a queue"
        _pass_a_message(peer)
        peer.close()
    properties = peer.server_properties
    announced = readable(properties)
    return Identity(text(properties.get("product")), text(properties.get("version")), announced, trip_s)


def _pass_a_message(peer: Peer) -> None:
    queue = peer.name("probe")
    peer.call("queue.declare", queue=queue, exclusive=True)
    peer.publish(queue, b"alive")
    peer.subscribe(queue)
    got = peer.transfer()
    if got.body != b"alive":
        raise Unmet("the message that was sent", "another one")
    peer.accept([got])
    peer.call("queue.delete", queue=queue)


# --- cleaning up


def delete(context: Context, entities: Sequence[Entity]) -> None:
    """Delete queues and exchanges, each in a separate session, for one that is gone ends its session.

    Raises Unmet.
    """
    peer = Peer(context)
    peer.open_connection()
    for kind, name in entities:
        peer.open_session()
        named: dict[str, Any] = {kind: name}
        number = peer.send(f"{kind}.delete", sync=True, **named)
        try:
            peer.completion(number, within_s=_SHARE_OF_PATIENCE * peer.patience_s)
            peer.detach()
        except Unmet as unmet:
            if isinstance(unmet.seen, Quiet):
                return
            peer.arrival("session.detached", "session.detach", within_s=_SHARE_OF_PATIENCE * peer.patience_s)
    peer.close()


# --- replay


def with_login(dialect_id: str, octets: bytes, login: Login) -> bytes:
    """The octets with a starred SASL response replaced by the login's, if they consist of one response only."""
    header, frame = only_frame(FrameReader(name="client→server"), octets)
    found = frame.assembly.instruction if frame is not None and frame.assembly is not None else None
    if found is None or found.name != "connection.start-ok" or found.error is not None:
        return octets
    if set(found.args.get("response", b"")) != {_STAR}:
        return octets
    response = conversation(str(found.args.get("mechanism")), login).first() or b""
    args = {**found.args, "response": response}
    return header + encode_assembly(found.name, **args)
