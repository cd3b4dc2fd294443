"""A target of AMQP 1.0 in memory: what it says is written down beforehand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Login
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.greeting import ProtocolHeader
from tests.peer.fake import PATIENCE, FakeTransport, Said, context

BARE = Login(mechanism="NONE")
says = performative_frame


def opened(**fields: Any) -> bytes:
    return HEADERS["amqp"] + says("open", container_id="fake", **fields)


def begun(channel: int = 0, remote: int = 0, **fields: Any) -> bytes:
    given = {"next_outgoing_id": 0, "incoming_window": 100, "outgoing_window": 100, **fields}
    return says("begin", remote, remote_channel=channel, **given)


def attached(name: str, role: str, handle: int = 0, **fields: Any) -> bytes:
    usual: dict[str, Any] = {"source": {"address": "q"}, "target": {"address": "q"}}
    if role == "sender":
        usual["initial_delivery_count"] = 0
    return says("attach", name=name, role=role, handle=handle, **{**usual, **fields})


def credit(number: int, handle: int = 0, **fields: Any) -> bytes:
    usual = {"next_incoming_id": 0, "incoming_window": 100, "next_outgoing_id": 0, "outgoing_window": 100}
    return says("flow", handle=handle, **{**usual, "delivery_count": 0, "link_credit": number, **fields})


def error(condition: str = "amqp:internal-error") -> dict[str, str]:
    return {"condition": condition, "description": "no"}


ATTACHED_SENDER = opened() + begun() + attached("l", "receiver")
ATTACHED_RECEIVER = opened() + begun() + attached("l", "sender")


def peer(*script: Said, login: Login = BARE, **facts: Any) -> tuple[Peer, FakeTransport]:
    """A peer whose target speaks a script."""
    transport = FakeTransport(*script)
    made = replace(context(transport, **facts), dialect="amqp-1-0", login=login, patience=PATIENCE)
    return Peer(made), transport


def heard(transport: FakeTransport) -> list[TypedFrame | ProtocolHeader]:
    """What was sent to the target, decoded."""
    reader = TypedReader(name="client→server", max_frame_octets=1 << 24)
    reader.feed(bytes(transport.sent))
    items: list[TypedFrame | ProtocolHeader] = []
    while (item := reader.next()) is not None:
        items.append(item)
    return items


def names(transport: FakeTransport) -> list[str]:
    """The performatives that were sent, by name."""
    return [item.name for item in heard(transport) if isinstance(item, TypedFrame)]


def last(transport: FakeTransport) -> Any:
    """The performative that was sent last."""
    return [item for item in heard(transport) if isinstance(item, TypedFrame)][-1].performative
