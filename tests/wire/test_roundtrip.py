"""What is written is what is read, for everything that the tables of a dialect can carry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.methods import AmqpClass, Field, Method
from amqpspec.spec.model import Side
from amqpspec.wire.methods.codec import Call, Codec, ContentHeader, codec_for
from amqpspec.wire.values import Raw, Table
from tests.wire.strategies import CODECS, DIALECTS, arguments, calls, content_headers, tables

EVERY_METHOD = [
    pytest.param(codec, method, id=f"{codec.dialect.id} {method.name}")
    for codec in CODECS
    for method in codec.dialect.methods.values()
    if method.fields and (codec.dialect.id == DIALECTS[0] or method.extension)
]


@pytest.mark.parametrize(("codec", "method"), EVERY_METHOD)
@settings(max_examples=25)
@given(data=st.data())
def test_method(codec: Codec, method: Method, data: st.DataObject) -> None:
    args = data.draw(arguments(codec.dialect, method))
    call = codec.decode_method(codec.encode_method(method.name, args))
    assert call == Call(method, args)
    assert codec.encode_method(call.name, call.args) == codec.encode_method(method.name, args)


@pytest.mark.parametrize("codec", CODECS, ids=DIALECTS)
@given(data=st.data())
def test_content_header(codec: Codec, data: st.DataObject) -> None:
    header = data.draw(content_headers(codec.dialect, codec.dialect.classes_by_name["basic"]))
    assert codec.decode_header(codec.encode_header(header)) == header


@pytest.mark.parametrize("codec", CODECS, ids=DIALECTS)
@settings(max_examples=50)
@given(data=st.data(), before=st.binary(max_size=4), after=st.binary(max_size=4))
def test_table_in_the_midst_of_other_octets(
    codec: Codec, data: st.DataObject, before: bytes, after: bytes
) -> None:
    table = data.draw(tables(codec.dialect.table_tags, depth=3))
    octets = codec.tables.encode(table)
    whole = before + octets + after
    read, end = codec.tables.decode(whole, len(before), len(whole))
    assert (read, end) == (table, len(before) + len(octets))
    assert isinstance(read, Table)


@pytest.mark.parametrize("dialect_id", DIALECTS)
@given(data=st.data())
def test_offset_of_an_argument_is_where_it_stands(dialect_id: str, data: st.DataObject) -> None:
    codec = codec_for(dialect_id)
    name, args = data.draw(calls(dialect_id))
    payload = codec.encode_method(name, args)
    for field in codec.dialect.methods[name].fields:
        if field.type != "bit":
            written = codec.encode_value(field.type, args[field.key])
            at = codec.offset_of(payload, field.name)
            assert payload[at : at + len(written)] == written


# --- how arguments are named and what they default to


def test_arguments_left_out_are_zero_or_empty(codec: Codec) -> None:
    for name, method in codec.dialect.methods.items():
        call = codec.decode_method(codec.encode_method(name, {}))
        assert not any(call.args.values())
        none: dict[str, Any] = {f.key: None for f in method.fields}
        assert codec.encode_method(name, none) == codec.encode_method(name, {})


@pytest.mark.parametrize("key", ["prefetch-count", "prefetch_count"])
@pytest.mark.parametrize("last", ["global", "global_"])
def test_names_of_arguments(codec: Codec, key: str, last: str) -> None:
    payload = codec.encode_method("basic.qos", {key: 3, last: True})
    call = codec.decode_method(payload)
    assert (call["prefetch-count"], call["prefetch_count"], call["global"]) == (3, 3, True)


def test_names_of_properties(codec: Codec) -> None:
    header = ContentHeader(60, 0, {"content-type": "a", "type_": "b"})
    assert codec.decode_header(codec.encode_header(header)).properties == {"content_type": "a", "type": "b"}


def test_a_call_on_one_line(codec: Codec) -> None:
    args = {"queue": "q", "arguments": {"x": 1}}
    call = codec.decode_method(codec.encode_method("queue.bind", args))
    text = call.describe()
    assert text == "queue.bind queue='q' exchange='' routing-key='' no-wait=False arguments={'x': 1}"
    long = codec.decode_method(codec.encode_method("connection.secure", {"challenge": b"x" * 500}))
    assert len(long.describe()) < 250
    secret = codec.decode_method(codec.encode_method("connection.secure-ok", {"response": b"guest"}))
    assert secret.describe() == "connection.secure-ok response=<redacted, 5 octets>"
    odd = codec.decode_method(codec.encode_method("queue.purge", {"reserved_1": 5}))
    assert "reserved-1=5" in odd.describe()


# --- what only other dialects of the family have


WIDE = AmqpClass(
    "wide",
    200,
    (
        Method(
            "wide.bits", 200, 1, Side.CLIENT, tuple(Field(f"b-{n}", "bit") for n in range(11)), content=True
        ),
    ),
    tuple(Field(f"p-{n}", "bit" if n in (1, 16) else "octet") for n in range(20)),
)


@pytest.fixture
def wide(base: Codec) -> Codec:
    return Codec(base.dialect.extend(id="wide", title="more of everything", classes=(WIDE,)))


@given(bits=st.lists(st.booleans(), min_size=11, max_size=11))
def test_more_than_eight_bits_fill_the_next_octet(bits: list[bool]) -> None:
    codec = Codec(codec_for("amqp-0-9-1").dialect.extend(id="wide", title="", classes=(WIDE,)))
    args = {f"b_{n}": bit for n, bit in enumerate(bits)}
    payload = codec.encode_method("wide.bits", args)
    assert payload == bytes([0, 200, 0, 1]) + sum(bit << n for n, bit in enumerate(bits)).to_bytes(
        2, "little"
    )
    assert codec.decode_method(payload).args == args


def test_more_than_fifteen_properties_take_another_word(wide: Codec) -> None:
    header = ContentHeader(200, 0, {"p_0": 1, "p_1": True, "p_15": 2, "p_16": True})
    octets = wide.encode_header(header)
    assert octets[12:].hex(" ", 2) == "c001 c000 0102"
    assert wide.decode_header(octets) == header


def test_bit_properties_live_in_their_flag(wide: Codec) -> None:
    header = ContentHeader(200, 0, {"p_0": 7, "p_1": False})
    octets = wide.encode_header(header)
    assert octets[12:].hex() == "800007"
    assert wide.decode_header(octets).properties == {"p_0": 7}
    assert wide.encode_header(ContentHeader(200, 0, {"p_1": True}))[12:].hex() == "4000"


def test_raw_octets_stand_in_for_anything(codec: Codec) -> None:
    payload = codec.encode_method(
        "queue.declare",
        {"reserved_1": Raw(b"\xaa"), "queue": Raw(b"Q"), "durable": Raw(b"\xff\xff"), "arguments": Raw(b"T")},
    )
    assert payload == b"\x00\x32\x00\x0a" + b"\xaa" + b"Q" + b"\xff\xff" + b"T"
    nothing = dict.fromkeys(("reserved_1", "queue", "passive", "arguments"), Raw(b""))
    assert codec.encode_method("queue.declare", nothing) == b"\x00\x32\x00\x0a"
    header = ContentHeader(60, 0, {"headers": Raw(b"H"), "priority": Raw(b"")})
    assert codec.encode_header(header)[12:] == b"\x28\x00" + b"H"
    assert codec.encode_value("longstr", Raw(b"x")) == b"x"
