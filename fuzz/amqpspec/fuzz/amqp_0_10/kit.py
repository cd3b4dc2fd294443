"""What families of AMQP 0-10 put together: controls and commands with given fields, messages, values, as octets.

Knows: the codec. Must not know: what is odd about what is put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amqpspec.fuzz.amqp_0_10.samples import CHANNEL, DESTINATION, LOGIN, QUEUE
from amqpspec.fuzz.families.base import next_productions
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, walk
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.instructions import ROWS
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.values import Raw

_USUAL: dict[str, Any] = {
    "queue": QUEUE, "destination": DESTINATION, "accept_mode": 1, "acquire_mode": 0, "mechanism": "PLAIN",
    "response": LOGIN, "locale": "en_US", "reply_code": 200, "command_offset": 0, "channel_max": 64,
    "max_frame_size": 4096, "code": 0,
}  # fmt: skip
_NEEDED: Mapping[str, tuple[str, ...]] = {
    name: tuple(f.key for f in row.fields if f.required or f.key in ("destination", "max_frame_size"))
    for name, row in ROWS.items()
}


def say(name: str, /, channel: int = CHANNEL, **fields: Any) -> bytes:
    """A control or a command; what it has to have and is not given has its usual value."""
    usual = {key: _USUAL[key] for key in _NEEDED[name] if key in _USUAL and key not in fields}
    channel = 0 if name.startswith("connection.") else channel
    return encode_assembly(name, channel, **usual, **fields)


def attach(channel: int, name: bytes | Raw | None = None, **more: Any) -> bytes:
    """A session of a unique name, and its command-point."""
    own = f"amqpspec-fuzz-{channel}".encode() if name is None else name
    return say("session.attach", channel, name=own, **more) + point(channel)


def point(channel: int = CHANNEL, command_id: int = 0, offset: int = 0) -> bytes:
    """A command-point."""
    return say("session.command-point", channel, command_id=command_id, command_offset=offset)


def transfer(
    body: bytes | None = b"amqpspec",
    channel: int = CHANNEL,
    *,
    exchange: str = "",
    key: Any = "amqpspec.fuzz.none",
    delivery: Mapping[str, Any] | None = None,
    message: Mapping[str, Any] | None = None,
) -> bytes:
    """A whole message."""
    own = {"priority": 4, "delivery_mode": 1, "routing_key": key, **(delivery or {})}
    header: list[Any] = [Packed("message.delivery-properties", own)]
    if message is not None:
        header.append(Packed("message.message-properties", message))
    return say("message.transfer", channel, destination=exchange, header=header, body=body)


def may(state: State, name: str) -> bool:
    """Whether a control or command may legally come next."""
    return any(
        p.name.partition("/")[2].partition("/")[0] == name for p in next_productions(DIALECT.id, state)
    )


def maps(state: State) -> Iterator[tuple[str, Node, Place]]:
    """Where a map is in what may follow: the production's name, its tree, the part; two of them at most."""
    found = (
        (production.name, production.tree, place)
        for production in next_productions(DIALECT.id, state)
        for place in walk(production.tree)
        if place.node.kind == "map" and place.node.is_group
    )
    for _, place in zip(range(2), found, strict=False):
        yield place
