"""AMQP 1.0 as the runner needs it: see ``amqpspec.run.driver.Driver``.

Knows: the way to a session, a round trip, a message through a node. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import LINKS, Context, Login, OutOfReach, Unmet
from amqpspec.peer.sasl import conversation
from amqpspec.run.amqp_1_0 import nodes
from amqpspec.run.driver import Entity, Identity, as_ordered, only_frame, probing, readable, text
from amqpspec.wire.amqp_1_0.direction import TypedDirection
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.direction import Direction
from amqpspec.wire.transport import StreamEnded

_ROUND_TRIPS = 5
_STAR = ord("*")
_LIMITS = ("container_id", "max_frame_size", "channel_max", "idle_time_out", "offered_capabilities")


def peer(context: Context) -> Peer:
    """What a case drives."""
    return Peer(context)


def direction(dialect_id: str, direction: str) -> Direction:
    """A decoder of one direction for evidence."""
    return TypedDirection(direction)


recognise = as_ordered


# --- the probe


def probe(context: Context) -> Identity:
    """Log in, begin a session, pass a message, measure round trips, close; raises ProbeFailed."""
    peer = Peer(context)
    with probing(peer, partial(_hint, peer)) as step:
        peer.connect()
        step.now = f"log in as {context.login.user!r} with {context.login.mechanism}"
        peer.greet()
        step.now = f"open virtual host {context.login.vhost!r}"
        peer.open()
        peer.context = replace(context, nodes=nodes.chosen(context.nodes, peer.opened))
        step.now = "begin a session"
        peer.begin()
        step.now = "pass a message through a node"
        _pass_a_message(peer)
        step.now = "measure a round trip"
        round_trip_s = _round_trip(peer)
        peer.close()
    return _identity(peer, round_trip_s)


def lacking(context: Context) -> dict[str, str]:
    """No probe is needed: targets.yaml says it."""
    return {}


def _identity(peer: Peer, round_trip_s: float) -> Identity:
    assert peer.opened is not None
    opened = peer.opened
    announced = {key: readable(_listed(opened[key])) for key in _LIMITS if opened[key] not in (None, ())}
    properties = opened["properties"] or {}
    announced |= readable(properties)
    product = text(properties.get("product")) or text(opened["container_id"])
    chosen = peer.context.nodes
    return Identity(
        product,
        text(properties.get("version")),
        announced,
        round_trip_s,
        note=f"queues are made by {chosen.way}, and deleted" if chosen.are_made else "",
        nodes=chosen,
    )


def _hint(peer: Peer, unmet: Exception) -> str:
    """What to configure where a target has no such node, and no one said how one is made."""
    if peer.context.nodes.way != LINKS or getattr(unmet, "code", None) != "amqp:not-found":
        return ""
    return (
        "; if the target does not create queues for links, targets.yaml specifies how to create them: 'nodes:"
        " management', 'nodes: amqp-0-9-1' or hooks make-node and delete-node, and their addresses in 'address'"
        " (docs/targets.md)"
    )


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _pass_a_message(peer: Peer) -> None:
    address = peer.node("probe")
    peer.send_message(address, b"alive")
    bodies = [delivery.body for delivery in peer.fetch(address, 1, count=1)]
    if bodies != [b"alive"]:
        raise Unmet("the message that was sent", "another one" if bodies else "none")


def _round_trip(peer: Peer) -> float:
    """The fields of a begin.

    Sessions are ended only if the target allows no more: some lose their answers to end.
    """
    taken_s = 0.0
    for _ in range(_ROUND_TRIPS):
        channel = _channel(peer)
        started_s = monotonic_s()
        peer.call("begin", channel)
        taken_s += monotonic_s() - started_s
    return taken_s / _ROUND_TRIPS


def _channel(peer: Peer) -> int:
    try:
        return peer.free_channel()
    except OutOfReach:
        peer.end()
        return 0


# --- cleaning up


def delete(context: Context, entities: Sequence[Entity]) -> None:
    """Delete nodes that were made, by name; take out what others hold, for links cannot delete them. Raises Unmet.

    A target that creates nodes on demand usually deletes them once they are empty and unused.
    """
    peer = Peer(context)
    if context.nodes.are_made:
        nodes.delete(context, [peer.address_of(name) for _, name in entities])
        return
    peer.begin()
    for _, name in entities:
        with suppress(OutOfReach):
            link = peer.try_attach(
                "receiver", peer.address_of(name), source={"address": peer.address_of(name)}
            )
            if not link.is_attached or link.refused:
                continue
            peer.credit(link, 1000)
            peer.barrier()
            for delivery in peer.received(link):
                if not delivery.settled:
                    peer.disposition(delivery)
            peer.detach(link)
    peer.close()


def sweep(context: Context, entities: Sequence[Entity]) -> None:
    """Delete what a killed run has left; raises Unmet.

    Links cannot delete queues, and attaching to one that has gone would make it again: where the target speaks 0-9-1 on
    the same port, that deletes them.
    """
    if not context.nodes.are_made:
        by_methods = replace(context, nodes=replace(context.nodes, way=nodes.METHODS))
        with suppress(Unmet, StreamEnded):
            return nodes.delete(by_methods, [name for _, name in entities])
    return delete(context, entities)


def make(context: Context, names: Sequence[str]) -> None:
    """Create nodes, by address, if they are not created with links; raises Unmet."""
    nodes.make(context, names)


# --- replay


def with_login(dialect_id: str, octets: bytes, login: Login) -> bytes:
    """The octets with a starred SASL response replaced by the login's, if they consist of one response only."""
    header, frame = only_frame(TypedReader(name="client→server"), octets)
    if frame is None or frame.name != "sasl-init" or not _starred(frame):
        return octets
    assert frame.performative is not None
    given = frame.performative
    fields = {key: given[key] for key in given.given}
    fields["initial_response"] = conversation(str(given["mechanism"]), login).first()
    return header + performative_frame("sasl-init", frame.channel, **fields)


def _starred(frame: TypedFrame) -> bool:
    assert frame.performative is not None
    response = frame.performative["initial_response"]
    return isinstance(response, bytes) and set(response) == {_STAR}
