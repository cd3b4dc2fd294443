"""Octets of python-qpid-proton's codec read by ours, and ours by it."""

from __future__ import annotations

import math
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from amqpspec.wire.amqp_1_0.performatives import decode_composite, encode_composite
from amqpspec.wire.amqp_1_0.types import decode, decode_value, encode
from amqpspec.wire.amqp_1_0.values import Symbol, Value
from tests.wire.amqp_1_0.golden import COMPOSITES, Golden
from tests.wire.amqp_1_0.strategies import plain_for

proton = pytest.importorskip("proton", reason="python-qpid-proton is not installed")

# Our types, their class for a value of it; what is not named is plain Python on both sides.
THEIRS = {
    "ubyte": "ubyte", "ushort": "ushort", "uint": "uint", "ulong": "ulong", "byte": "byte", "short": "short",
    "int": "int32", "float": "float32", "char": "char", "timestamp": "timestamp", "symbol": "symbol",
}  # fmt: skip
PLAIN = ("long", "double", "binary", "string", "uuid")
WIDEST = {
    "uint": "uint4",
    "ulong": "ulong8",
    "int": "int4",
    "long": "long8",
    "binary": "vbin32",
    "string": "str32-utf8",
}


def their_octets(value: Any) -> bytes:
    data = proton.Data()
    data.put_object(value)
    return bytes(data.encode())


def their_value(octets: bytes) -> Any:
    data = proton.Data()
    assert data.decode(octets) == len(octets)
    data.rewind()
    assert data.next()
    return owned(data.get_object())


def owned(value: Any) -> Any:
    """Their value without views into memory that goes away with their data."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [owned(item) for item in value]
    if isinstance(value, proton.Described):
        return proton.Described(value.descriptor, owned(value.value))
    return {owned(k): owned(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("kind", [*THEIRS, *PLAIN])
@given(data=st.data())
def test_scalars_in_both_directions(kind: str, data: st.DataObject) -> None:
    value = data.draw(plain_for(WIDEST.get(kind, "sym8" if kind == "symbol" else kind)))
    cls = getattr(proton, THEIRS[kind]) if kind in THEIRS else lambda v: v
    octets = encode(Value(kind, value))
    read, end = decode(their_octets(cls(value)))
    assert (read, end) == (value, len(their_octets(cls(value))))
    again = their_value(octets)
    assert again == value or (isinstance(value, float) and math.isclose(again, value, rel_tol=1e-6))


PLAIN_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN_VALUES)
def test_compounds_in_both_directions(value: Any) -> None:
    assert decode(their_octets(value))[0] == value
    assert their_value(encode(value)) == value


def test_arrays_and_described_values_of_theirs() -> None:
    octets = their_octets(
        proton.Array(proton.UNDESCRIBED, proton.Data.SYMBOL, proton.symbol("a"), proton.symbol("b"))
    )
    assert decode(octets)[0] == [Symbol("a"), Symbol("b")]
    described = their_octets(proton.Described(proton.ulong(0x24), []))
    composed, _ = decode_composite(described)
    assert (composed.name, composed.problems) == ("accepted", ())


@pytest.mark.parametrize("row", COMPOSITES, ids=lambda row: f"{row.name}-{len(row.octets)}")
def test_composites_are_described_lists_to_them(row: Golden) -> None:
    value = their_value(encode_composite(row.name, **row.fields))
    assert isinstance(value, proton.Described)
    assert value.descriptor == row.octets[2]
    assert decode_value(their_octets(value))[1] == len(their_octets(value))


def test_messages_in_both_directions() -> None:
    theirs = proton.Message(
        body="text",
        id=UUID(int=5),
        subject="s",
        durable=True,
        priority=7,
        properties={"k": 1},
        ttl=1.5,
        address="q",
    )
    message = decode_message(theirs.encode())
    assert message.problems == ()
    assert message.header is not None and message.properties is not None
    assert (message.header["durable"], message.header["priority"], message.header["ttl"]) == (True, 7, 1500)
    assert (message.properties["message_id"], message.properties["subject"]) == (UUID(int=5), "s")
    assert (message.application_properties, message.body) == ({"k": 1}, "text")
    ours = proton.Message()
    ours.decode(
        encode_message(
            header={"durable": True, "priority": 7},
            properties={"message_id": "m", "to": "q", "content_type": "text/plain"},
            application_properties={"k": "v"},
            data=b"abc",
        )
    )
    assert (ours.durable, ours.priority, ours.id, ours.address, ours.content_type) == (
        True,
        7,
        "m",
        "q",
        "text/plain",
    )
    assert (ours.properties, ours.body) == ({"k": "v"}, b"abc")


def test_frames_of_their_engine_and_ours_into_it() -> None:
    """Two ends: theirs says open, begin, attach and a transfer; ours reads, and answers with frames by hand."""
    transport, connection = proton.Transport(), proton.Connection()
    connection.container, connection.hostname = "theirs", "h"
    transport.bind(connection)
    connection.open()
    session = connection.session()
    session.open()
    sender = session.sender("link")
    sender.target.address = "q"
    sender.open()
    reader = TypedReader(name="proton")

    def said() -> list[TypedFrame]:
        reader.feed(bytes(transport.peek(transport.pending())))
        transport.pop(transport.pending())
        items = list(iter(reader.next, None))
        return [item for item in items if isinstance(item, TypedFrame)]

    frames = said()
    assert [frame.name for frame in frames] == ["open", "begin", "attach"]
    assert [frame.problems for frame in frames] == [()] * 3
    opened, _, attached = (frame.performative for frame in frames)
    assert opened is not None and attached is not None
    assert (opened["container_id"], opened["hostname"]) == ("theirs", "h")
    assert (attached["name"], attached["role"], attached["target"]["address"]) == ("link", False, "q")
    answer = [
        HEADERS["amqp"],
        performative_frame("open", container_id="ours", max_frame_size=4096),
        performative_frame(
            "begin", remote_channel=0, next_outgoing_id=0, incoming_window=9, outgoing_window=9, handle_max=9
        ),
        performative_frame(
            "attach",
            name="link",
            handle=0,
            role="receiver",
            source={},
            target={"address": "q"},
            rcv_settle_mode="first",
        ),
        performative_frame(
            "flow",
            next_incoming_id=0,
            incoming_window=9,
            next_outgoing_id=0,
            outgoing_window=9,
            handle=0,
            delivery_count=0,
            link_credit=5,
        ),
    ]
    transport.push(b"".join(answer))
    assert (connection.remote_container, sender.remote_target.address, sender.credit) == ("ours", "q", 5)
    delivery = sender.delivery("tag")
    sender.stream(encode_message(data=b"hi"))
    sender.advance()
    (transfer,) = [frame for frame in said() if frame.name == "transfer"]
    assert (transfer.problems, decode_message(transfer.payload).body) == ((), b"hi")
    transport.push(performative_frame("disposition", role=True, first=0, settled=True, state="accepted"))
    assert (delivery.remote_state, delivery.settled) == (proton.Delivery.ACCEPTED, True)
    transport.push(performative_frame("close", error={"condition": "amqp:not-found", "description": "d"}))
    assert (connection.remote_condition.name, connection.remote_condition.description) == (
        "amqp:not-found",
        "d",
    )
