"""pamqp reads what we write, and we read what pamqp writes.

Left out is where pamqp is known to see it otherwise: it reads long-long integers as signed, takes large timestamps
for milliseconds, keeps the last of duplicate fields, cannot write octets that are not text, writes every float as a
single one, and refuses to write some reserved arguments that are empty.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pamqp import commands, frame, header

from amqpspec.spec.methods import Field, Method, TypeTag
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter
from amqpspec.wire.values import Table, Typed
from tests.wire.strategies import integers

CODEC: Codec = codec_for("rabbitmq-0-9-1")
LAYOUT = CODEC.dialect.layout
METHODS = [pytest.param(m, id=m.name) for m in CODEC.dialect.methods.values()]
TEXTS = st.text("abcxyz-.1", max_size=20)
NAMES = st.text("abcxyz-.1", min_size=1, max_size=20)


@cache
def agreed(primitive: str) -> st.SearchStrategy[Any]:
    """Values of whose octets both codecs think the same."""
    known: dict[str, st.SearchStrategy[Any]] = {
        "bit": st.booleans(),
        "boolean": st.booleans(),
        "longlong": st.integers(0, 2**63 - 1),
        "timestamp": st.integers(0, 2**32 - 1),
        "float": st.floats(width=32, allow_nan=False),
        "double": st.floats(width=32, allow_nan=False),
        "decimal": st.tuples(st.integers(0, 20), integers("int32")),
        "shortstr": TEXTS,
        "longstr": TEXTS.map(str.encode),
        "bytes": st.binary(max_size=20),
        "void": st.none(),
    }
    return known[primitive] if primitive in known else integers(primitive)


@cache
def agreed_values(depth: int) -> st.SearchStrategy[Typed]:
    def of(tag: TypeTag) -> st.SearchStrategy[Typed]:
        if tag.primitive == "array":
            inner: st.SearchStrategy[Any] = st.lists(agreed_values(depth - 1), max_size=3)
        else:
            inner = agreed_tables(depth - 1) if tag.primitive == "table" else agreed(tag.primitive)
        return inner.map(lambda value: Typed(tag.tag, value))

    flat = [t for t in CODEC.dialect.table_tags if depth > 0 or t.primitive not in ("table", "array")]
    return st.one_of([of(tag) for tag in flat])


@cache
def agreed_tables(depth: int = 1) -> st.SearchStrategy[Table]:
    pairs = st.lists(st.tuples(NAMES, agreed_values(depth)), max_size=4, unique_by=lambda pair: pair[0])
    return pairs.map(
        lambda fields: Table(sorted(fields)) if len(fields) < 2 else Table(sorted_by_name(fields))
    )


def sorted_by_name(fields: list[tuple[str, Typed]]) -> list[tuple[str, Typed]]:
    return sorted(fields, key=lambda field: field[0])


@cache
def argument(field: Field) -> st.SearchStrategy[Any]:
    if field.type == "table":
        return agreed_tables()
    if field.reserved:
        return st.just({"bit": False, "shortstr": "", "longstr": b""}.get(field.type, 0))
    return agreed(field.type)


def theirs(value: Any) -> Any:
    """One of our values as pamqp has it."""
    if isinstance(value, Table):
        return {name: theirs(typed) for name, typed in value}
    if isinstance(value, Typed):
        return _their_typed(value)
    return value.decode() if isinstance(value, bytes) else value


def _their_typed(typed: Typed) -> Any:
    tag, value = typed
    if tag == "T":
        return datetime.fromtimestamp(value, tz=UTC)
    if tag == "D":
        return Decimal(value[1]) * Decimal(10) ** -value[0]
    if tag == "x":
        return bytearray(value)
    return [theirs(item) for item in value] if tag == "A" else theirs(value)


def plain(value: Any) -> Any:
    """A value without the tags that pamqp chooses again."""
    if isinstance(value, Table):
        return {name: plain(typed.value) for name, typed in value}
    if isinstance(value, list):
        return [plain(item.value) for item in value]
    return value


def framed(type_code: int, payload: bytes) -> bytes:
    return FrameWriter(LAYOUT).frame(type_code, 1, payload)


def payload_of(octets: bytes) -> bytes:
    reader = FrameReader(LAYOUT)
    reader.feed(octets)
    item = reader.next()
    assert isinstance(item, Frame)
    return item.payload


# pamqp warns whenever it reads basic.recover-async.
@pytest.mark.filterwarnings("ignore:This command is deprecated:DeprecationWarning")
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=20)
@given(data=st.data())
def test_method(method: Method, data: st.DataObject) -> None:
    args = {f.key: data.draw(argument(f)) for f in method.fields}
    octets = framed(LAYOUT.types["method"], CODEC.encode_method(method.name, args))
    count, channel, read = frame.unmarshal(octets)
    assert (count, channel) == (len(octets), 1)
    assert read.name.replace(".", "").lower() == method.name.replace(".", "").replace("-", "")
    assert [value for _, value in read] == [theirs(value) for value in args.values()]
    try:
        written = frame.marshal(read, 1)
    except ValueError:
        assert any(f.reserved for f in method.fields), "pamqp refuses what it read itself"
        return
    back = CODEC.decode_method(payload_of(written))
    assert (back.name, {k: plain(v) for k, v in back.args.items()}) == (
        method.name,
        {k: plain(v) for k, v in args.items()},
    )


PROPERTIES = CODEC.dialect.classes_by_name["basic"].properties[:-1]


@given(data=st.data(), body_size=st.integers(0, 2**64 - 1))
def test_content_header(data: st.DataObject, body_size: int) -> None:
    known = {f.key: argument(f) for f in PROPERTIES} | {"delivery_mode": st.sampled_from([1, 2])}
    filled = {key: strategy.filter(lambda value: value not in ("", ())) for key, strategy in known.items()}
    properties = data.draw(st.fixed_dictionaries({}, optional=filled))
    payload = CODEC.encode_header(ContentHeader(60, body_size, properties))
    read = frame.unmarshal(framed(LAYOUT.types["header"], payload))[2]
    assert isinstance(read, header.ContentHeader)
    assert (read.class_id, read.weight, read.body_size) == (60, 0, body_size)
    expected = {key: theirs(value) for key, value in properties.items()}
    if "timestamp" in expected:
        expected["timestamp"] = datetime.fromtimestamp(expected["timestamp"], tz=UTC)
    present = {"message_type" if key == "type" else key: value for key, value in expected.items()}
    assert {name: value for name, value in read.properties if value not in (None, "")} == present
    back = CODEC.decode_header(payload_of(frame.marshal(read, 1)))
    assert {k: plain(v) for k, v in back.properties.items()} == {k: plain(v) for k, v in properties.items()}


def test_heartbeat_and_protocol_header() -> None:
    assert frame.unmarshal(framed(8, b""))[2].name == "Heartbeat"
    octets = header.ProtocolHeader().marshal()
    assert octets == CODEC.dialect.protocol_header
    assert frame.marshal(commands.Tx.Select(), 1) == framed(1, CODEC.encode_method("tx.select", {}))
