"""What is written is read again: values in every encoding, performatives with any fields, any cut of the stream."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.amqp_1_0 import DIALECT, HEADERS
from amqpspec.spec.typed import Composite
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, TypedReader, performative_frame
from amqpspec.wire.amqp_1_0.performatives import decode_composite, encode_as, encode_composite
from amqpspec.wire.amqp_1_0.problems import kind_of, problems_of, row_of
from amqpspec.wire.amqp_1_0.reading import Readers
from amqpspec.wire.amqp_1_0.types import decode, decode_value, encode
from amqpspec.wire.amqp_1_0.values import Described, plain
from amqpspec.wire.errors import EncodeError, WireError
from tests.wire.amqp_1_0.golden import COMPOSITES
from tests.wire.amqp_1_0.strategies import VALUES, field_values

PLAIN = Readers(keep=False)
COMPOSITE_NAMES = sorted(DIALECT.composites)


@given(VALUES)
def test_values_keep_their_encodings(value: Any) -> None:
    try:
        octets = encode(value)
    except EncodeError:
        return
    again, end = decode_value(octets)
    assert (again, end) == (value, len(octets))
    assert encode(again) == octets


@given(VALUES)
def test_plain_reading_is_reading_and_then_plain(value: Any) -> None:
    try:
        octets = encode(value)
    except EncodeError:
        return
    assert PLAIN.read(octets) == (plain(value), len(octets))


@pytest.mark.parametrize("name", COMPOSITE_NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_composites_give_back_what_they_were_given(name: str, data: st.DataObject) -> None:
    row = DIALECT.composites[name]
    chosen = [f for f in row.fields if data.draw(st.booleans())]
    fields = {f.key: data.draw(field_values(f), f.name) for f in chosen}
    octets = encode_composite(name, **fields)
    composed, end = decode_composite(octets)
    assert end == len(octets)
    sent = {f.key: fields[f.key] for f in chosen if fields[f.key] is not None}
    assert {key: composed[key] for key in sent} == sent
    mandatory = {f.key for f in row.fields if f.mandatory}
    assert bool(composed.problems) == bool(mandatory - sent.keys())


@given(st.integers(1, 40))
def test_any_cut_of_a_stream_gives_the_same_frames(step: int) -> None:
    frames = [
        performative_frame(row.name, 7, **row.fields)
        for row in COMPOSITES
        if row.name in ("open", "flow", "attach")
    ]
    stream = b"".join([HEADERS["sasl"], HEADERS["amqp"], EMPTY_FRAME, *frames])
    whole = read(stream, len(stream))
    assert [getattr(item, "octets", b"") for item in whole] == [
        HEADERS["sasl"],
        HEADERS["amqp"],
        EMPTY_FRAME,
        *frames,
    ]
    assert read(stream, step) == whole


def read(stream: bytes, step: int) -> list[Any]:
    reader, items = TypedReader(), []
    for at in range(0, len(stream), step):
        reader.feed(stream[at : at + step])
        while (item := reader.next()) is not None:
            items.append(item)
    assert (reader.pending_octets, reader.offset) == (0, len(stream))
    return items


@given(st.binary(max_size=60))
def test_any_octets_are_read_or_refused(octets: bytes) -> None:
    for read_value in (decode, decode_value):
        try:
            _, end = read_value(octets)
        except WireError as error:
            assert 0 <= error.offset <= len(octets)
        else:
            assert 0 < end <= len(octets)


@given(st.sampled_from([row.octets for row in COMPOSITES]), st.data())
def test_both_ways_of_reading_agree_on_bent_octets(octets: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(octets) - 1))
    bent = octets[:at] + data.draw(st.binary(min_size=1, max_size=1)) + octets[at + 1 :]
    try:
        value, end = decode_value(bent)
    except WireError:
        with pytest.raises(WireError):
            decode_composite(bent)
        return
    try:
        composed, composed_end = decode_composite(bent)
    except WireError:
        assert not isinstance(row_of(value), Composite) or kind_of(value.value) != "list"
        return
    assert (composed_end, composed.described) == (end, value)
    assert composed.problems == problems_of(composed.row, value)
    assert bool(row_of(value)) or composed.problems
    assert composed.given == {key for key, item in composed.values.items() if kind_of(item) != "null"}


@pytest.mark.parametrize(
    ("octets", "sent"),
    [
        ("00 5310 e0 06 02 a1 01 63 01 64", {"container_id": "c", "hostname": "d"}),
        ("00 5310 e0 08 02 00 5377 a1 01 63 00", {"container_id": "c", "hostname": ""}),
    ],
)
def test_the_fields_of_an_array_for_a_list_are_its_items(octets: str, sent: dict[str, str | None]) -> None:
    composed, end = decode_composite(bytes.fromhex(octets))
    assert end == len(bytes.fromhex(octets)) and [p.expected for p in composed.problems][:1] == ["a list"]
    items = {
        key: item.value if isinstance(item, Described) else item for key, item in composed.values.items()
    }
    assert {key: item.value for key, item in items.items()} == sent
    assert composed.given == {key for key, item in composed.values.items() if kind_of(item) != "null"}


def test_a_type_by_name() -> None:
    assert encode_as("sender-settle-mode", "settled") == encode_as("ubyte", 1) == b"\x50\x01"
    assert encode_as("fields", {"a": None}) == bytes.fromhex("c105 02a3016140".replace(" ", ""))
    assert encode_as("role", "receiver") == b"\x41"
    with pytest.raises(EncodeError, match="uint"):
        encode_as("handle", -1)
