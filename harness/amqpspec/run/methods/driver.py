"""The 0-9 family as the runner needs it: see ``amqpspec.run.driver.Driver``.

Knows: the handshake, a round trip, deleting queues and exchanges. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.peer.context import Context, Login, Unmet
from amqpspec.peer.events import Quiet
from amqpspec.peer.methods.peer import Peer, sasl_response
from amqpspec.run.driver import (
    Entity,
    Identity,
    ProbeFailed,
    Recognised,
    only_frame,
    probing,
    readable,
    round_trip_s,
    text,
    why_ended,
)
from amqpspec.spec.dialects import deployed_as
from amqpspec.spec.methods import MethodDialect, load_methods
from amqpspec.wire.direction import Direction
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.direction import FrameDirection
from amqpspec.wire.methods.frames import FrameReader, FrameWriter
from amqpspec.wire.transport import StreamEnded

_SHARE_OF_PATIENCE = 0.2
_PAUSE_S = 0.05
_STAR = ord("*")
_CAPABILITIES = {
    "publisher_confirms": "confirm",
    "exchange_exchange_bindings": "exchange-bind",
    "basic.nack": "nack",
    "consumer_cancel_notify": "consumer-cancel-notify",
    "connection.blocked": "blocked",
    "alternate_exchange": "alternate-exchange",
    "sender_selected_distribution": "sender-selected",
}


def peer(context: Context) -> Peer:
    """What a case drives."""
    return Peer(context)


def direction(dialect_id: str, direction: str) -> Direction:
    """A decoder of one direction for evidence."""
    return FrameDirection(codec_for(dialect_id), direction)


# --- recognition


def recognise(context: Context) -> Recognised:
    """The context's dialect, or the one as which the target deploys it, seen from where connection.start has its ids.

    Raises ProbeFailed if the target cannot be reached.
    """
    deployed = deployed_as(context.dialect)
    if deployed is None:
        return Recognised(context.dialect)
    try:
        first = _first_octets(context)
    except StreamEnded as ended:
        raise ProbeFailed(f"could not reach the target: {why_ended(ended)}") from ended
    dialect = load_methods(context.dialect)
    if _starts(first, dialect):
        return Recognised(context.dialect)
    asked = ProtocolHeader(dialect.protocol_header)
    if _starts(first, load_methods(deployed)):
        return Recognised(deployed, f"answers {asked} with frames of {deployed}")
    answer = ProtocolHeader(first[: dialect.layout.greeting.length_octets])
    return Recognised(
        deployed, f"refuses {asked} with {answer if first.startswith(b'AMQP') else 'no header'}"
    )


def _first_octets(context: Context) -> bytes:
    """The beginning of what the target answers to the dialect's protocol header; empty if it refuses it."""
    transport = context.dial()
    dialect = load_methods(context.dialect)
    transport.send(dialect.protocol_header)
    until_s = transport.now() + context.patience.reply_s
    octets = b""
    try:
        while len(octets) < dialect.layout.header_octets + 4 and (more := transport.receive(until_s)):
            octets += more
    except StreamEnded as ended:
        if not octets and ended.__cause__ is not None:
            raise
    finally:
        transport.close()
    return octets


def _starts(octets: bytes, dialect: MethodDialect) -> bool:
    """Whether octets begin a frame of the dialect's layout that holds connection.start."""
    start = dialect.methods["connection.start"]
    ids = start.class_id.to_bytes(2, "big") + start.method_id.to_bytes(2, "big")
    at = dialect.layout.header_octets
    return octets[at : at + len(ids)] == ids


# --- the probe


def probe(context: Context) -> Identity:
    """Log in, open a channel, measure round trips, pass a message, close; raises ProbeFailed."""
    peer = Peer(context)
    with probing(peer) as step:
        peer.connect()
        step.now = f"start the handshake of {peer.dialect.id}"
        peer.greet()
        step.now = f"log in as {context.login.user!r} and open virtual host {context.login.vhost!r}"
        peer.start_ok()
        peer.tune()
        peer.call("connection.open", channel=0, virtual_host=context.login.vhost)
        step.now = "open a channel"
        peer.call("channel.open")
        trip_s = round_trip_s(peer.barrier, trips=2)
        step.now = "pass a message through a queue"
        _pass_a_message(peer)
        peer.close()
    properties = peer.server_properties
    product, version = text(properties.get("product")), text(properties.get("version"))
    announced = readable(properties)
    return Identity(product, version, announced, trip_s, _lacks(announced))


def lacking(context: Context) -> dict[str, str]:
    """Nothing besides what is announced."""
    return {}


def _lacks(announced: Mapping[str, Any]) -> dict[str, str]:
    capabilities = announced.get("capabilities")
    capabilities = capabilities if isinstance(capabilities, Mapping) else {}
    return {
        feature: f"the target does not announce the capability {capability}"
        for capability, feature in _CAPABILITIES.items()
        if capabilities.get(capability) is not True
    }


def _pass_a_message(peer: Peer) -> None:
    queue = peer.name("probe")
    peer.call("queue.declare", queue=queue, exclusive=True)
    peer.publish(queue, b"alive")
    # basic.publish has no reply: the first look can be too early.
    until_s = peer.now() + peer.patience_s
    while (got := peer.get(queue)) is None and peer.now() <= until_s:
        peer.wait(lambda arrival: False, _PAUSE_S)
    if got is None or got.body != b"alive":
        raise Unmet("the message that was published", "none" if got is None else "another one")
    peer.call("queue.delete", queue=queue)


# --- cleaning up


def delete(context: Context, entities: Sequence[Entity]) -> None:
    """Delete queues and exchanges, each on a separate channel; raises Unmet."""
    peer = Peer(context)
    peer.open_connection()
    for channel, (kind, name) in enumerate(entities, start=1):
        number = min(channel, 2000)
        peer.send("channel.open", channel=number)
        peer.send(f"{kind}.delete", channel=number, **{kind: name})
        peer.send("exchange.declare", channel=number, exchange="amq.direct", type="direct", passive=True)
        within_s = _SHARE_OF_PATIENCE * peer.patience_s
        answer = peer.arrival("exchange.declare-ok", channel=number, within_s=within_s)
        if isinstance(answer, Quiet):
            raise Unmet(f"an end of {kind}.delete", "none", answer)
    peer.close()


def make(context: Context, names: Sequence[str]) -> None:
    """Declare durable queues; raises Unmet."""
    peer = Peer(context)
    peer.open_connection()
    peer.call("channel.open")
    for name in names:
        peer.call("queue.declare", queue=name, durable=True)
    peer.close()


# --- replay


def with_login(dialect_id: str, octets: bytes, login: Login) -> bytes:
    """The octets with a starred SASL response replaced by the login's."""
    codec = codec_for(dialect_id)
    layout = codec.dialect.layout
    header, frame = only_frame(FrameReader(layout), octets)
    if frame is None:
        return octets
    try:
        call = codec.decode_method(frame.payload)
    except WireError:
        return octets
    if call.name != "connection.start-ok" or set(call["response"]) != {_STAR}:
        return octets
    response = sasl_response(call["mechanism"], login, codec)
    payload = codec.encode_method(call.name, {**call.args, "response": response})
    return header + FrameWriter(layout).frame(frame.type, frame.channel, payload)
