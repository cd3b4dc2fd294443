"""AMQP/Fast as the runner needs it: see ``amqpspec.run.driver.Driver``.

Knows: the way to a handle, a round trip, a message through a queue. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import Context, Login, Unmet
from amqpspec.run.driver import Entity, Identity, as_ordered, only_frame, probing, readable, round_trip_s
from amqpspec.wire.amqp_fast_0_8.direction import CommandDirection
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame
from amqpspec.wire.direction import Direction

_STAR = ord("*")


def peer(context: Context) -> Peer:
    """What a case drives."""
    return Peer(context)


def direction(dialect_id: str, direction: str) -> Direction:
    """A decoder of one direction for evidence."""
    return CommandDirection(direction)


recognise = as_ordered


# --- the probe


def probe(context: Context) -> Identity:
    """Log in, open a handle, measure round trips, pass a message, close; raises ProbeFailed."""
    peer = Peer(context)
    with probing(peer) as step:
        peer.connect()
        step.now = "start the conversation"
        challenge = peer.greet()
        step.now = f"log in as {context.login.user!r}"
        peer.respond()
        peer.take_tune()
        step.now = f"open virtual host {context.login.vhost!r}"
        peer.open()
        step.now = "open a channel"
        peer.open_channel()
        trip_s = round_trip_s(peer.barrier, trips=4)
        step.now = "pass a message through a queue"
        _pass_a_message(peer)
        peer.close()
    announced = {"version": challenge["version"], "mechanisms": challenge["mechanisms"], **peer.proposed}
    # The protocol has no words for a product.
    return Identity("", "", readable(announced), trip_s)


def lacking(context: Context) -> dict[str, str]:
    """It has no optional parts that could be asked for."""
    return {}


def _pass_a_message(peer: Peer) -> None:
    name = peer.queue()
    peer.reader(name)
    peer.publish(name, b"alive")
    if peer.delivery().body != b"alive":
        raise Unmet("the message that was sent", "another one")


# --- cleaning up


def delete(context: Context, entities: Sequence[Entity]) -> None:
    """Take out what the queues hold, for the protocol cannot delete a queue; raises Unmet."""
    peer = Peer(context)
    peer.open_channel()
    for number, (_, name) in enumerate(entities, start=1):
        with suppress(Unmet):
            peer.reader(name, number, dynamic=True, no_ack=True)
            peer.barrier()
            peer.close_handle(number)
    peer.close()


# --- replay


def with_login(dialect_id: str, octets: bytes, login: Login) -> bytes:
    """Recorded octets with a starred RESPONSE replaced by the login's, if they consist of it only."""
    greeting, frame = only_frame(CommandReader(name="client→server"), octets)
    if frame is None or frame.name != "connection.response" or not _is_starred(frame):
        return octets
    responses = {"LOGIN": login.user, "PASSWORD": login.password}
    return greeting + command_frame("connection.response", mechanism=login.mechanism, responses=responses)


def _is_starred(frame: CommandFrame) -> bool:
    """Whether the fields end in nothing but stars, after the mechanism and the size of the table."""
    at = 1 + frame.fields[0] if frame.fields else 0
    starred = frame.fields[at + 2 :]
    return bool(starred) and set(starred) == {_STAR}
