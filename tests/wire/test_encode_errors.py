"""Values that do not fit are refused with what was expected, and where; nothing wrong leaves by accident."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.methods.codec import Codec, ContentHeader
from amqpspec.wire.values import Raw, Typed


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("basic.qos", {"prefetch_count": 65536}, "basic.qos prefetch-count: 65536, expected an integer from 0 to 6"),
        ("basic.qos", {"prefetch_count": -1}, "basic.qos prefetch-count: -1, expected an integer from 0 to 65535"),
        ("basic.qos", {"prefetch_size": "9"}, "basic.qos prefetch-size: '9', expected an integer from 0 to 4294967295"),
        ("basic.ack", {"delivery_tag": 2**64}, "basic.ack delivery-tag: 18446744073709551616, expected an integer"),
        ("basic.ack", {"delivery_tag": 1.5}, "basic.ack delivery-tag: 1.5, expected an integer from 0 to"),
        ("queue.purge", {"queue": "q" * 256}, "queue.purge queue: 256 octets, expected a string of at most 255 octets"),
        ("queue.purge", {"queue": "é" * 128}, "queue.purge queue: 256 octets, expected a string of at most 255"),
        ("queue.purge", {"queue": 5}, "queue.purge queue: 5, expected a string of at most 255 octets"),
        ("queue.purge", {"queue": "\ud800"}, r"queue.purge queue: '\ud800', expected a string of at most 255 octets"),
        ("connection.secure", {"challenge": 5}, "connection.secure challenge: 5, expected a string"),
        ("queue.declare", {"arguments": 5}, "queue.declare arguments: 5, expected a table or a mapping"),
        (
            "queue.declare",
            {"arguments": {"x": {"y": [1, object]}}},
            "queue.declare arguments › 'x' › 'y' › field value: <class 'object'>, expected a value that a field table",
        ),
    ],
)  # fmt: skip
def test_arguments(codec: Codec, name: str, args: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodeError) as caught:
        codec.encode_method(name, args)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"k": 2**63},
            "'k' › field value: 9223372036854775808, expected an integer from -9223372036854775808",
        ),
        ({"k": Typed("b", 128)}, "'k' › field value b: 128, expected an integer from -128 to 127"),
        ({"k": Typed("B", -1)}, "'k' › field value B: -1, expected an integer from 0 to 255"),
        ({"k": Typed("f", 1e300)}, "'k' › field value f: 1e+300, expected a number within a single"),
        ({"k": Typed("d", "x")}, "'k' › field value d: 'x', expected a number"),
        ({"k": Typed("D", 5)}, "'k' › field value D: 5, expected a pair of scale (0 to 255)"),
        ({"k": Typed("D", (256, 0))}, "'k' › field value D: (256, 0), expected a pair of scale"),
        ({"k": Typed("S", None)}, "'k' › field value S: None, expected a string"),
        ({"k": Typed("A", 5)}, "'k' › field value A: 5, expected a list"),
        ({"k": Typed("F", 5)}, "'k' › field value F: 5, expected a table or a mapping"),
        ({"k": Typed("F", {"j": Typed("t", 1), "i": object()})}, "'k' › 'i' › field value: <object"),
        ({"k": Typed("?", 5)}, "'k' › field value: tag '?', expected a type tag of tbB"),
        ({"k": Typed("\u03bb", Raw(b""))}, "'k' › field value: tag '\u03bb', expected a type tag of tbB"),
        ({"k": "\udfff"}, r"'k' › field value: '\udfff', expected a string"),
        ({"k" * 256: 1}, "field name: 256 octets, expected a string of at most 255 octets"),
        ({5: 1}, "field name: 5, expected a string of at most 255 octets"),
    ],
)
def test_table_values(codec: Codec, table: Any, message: str) -> None:
    with pytest.raises(EncodeError) as caught:
        codec.tables.encode(table)
    assert str(caught.value).startswith(message)


def test_short_strings_in_tables_of_the_base(base: Codec) -> None:
    with pytest.raises(
        EncodeError, match="'k' › field value s: 300 octets, expected a string of at most 255 octets"
    ):
        base.tables.encode({"k": Typed("s", "x" * 300)})
    with pytest.raises(
        EncodeError, match="'k' › field value U: 40000, expected an integer from -32768 to 32767"
    ):
        base.tables.encode({"k": Typed("U", 40000)})


def test_long_values_are_not_shown_whole(codec: Codec) -> None:
    with pytest.raises(EncodeError) as caught:
        codec.encode_method("basic.qos", {"prefetch_count": [0] * 1000})
    assert len(str(caught.value)) < 200


def test_unknown_names(codec: Codec) -> None:
    with pytest.raises(TypeError, match=r"queue.purge: no argument 'colour'"):
        codec.encode_method("queue.purge", {"colour": 1})
    with pytest.raises(TypeError, match="content header: no property 'colour'"):
        codec.encode_header(ContentHeader(60, 0, {"colour": 1}))
    with pytest.raises(TypeError, match=r"content header: no property 'priority'"):
        codec.encode_header(ContentHeader(61, 0, {"priority": 1}))
    with pytest.raises(KeyError, match=r"queue.paint"):
        codec.encode_method("queue.paint", {})


def test_content_headers(codec: Codec) -> None:
    with pytest.raises(EncodeError, match="content header priority: 256, expected an integer from 0 to 255"):
        codec.encode_header(ContentHeader(60, 0, {"priority": 256}))
    for header in (ContentHeader(65536, 0), ContentHeader(60, -1), ContentHeader(60, 0, {}, 65536)):
        with pytest.raises(EncodeError, match=r"content header: class .* weight .* size"):
            codec.encode_header(header)


def test_single_values(codec: Codec) -> None:
    assert codec.encode_value("short", None) == b"\x00\x00"
    assert codec.encode_value("table", {"a": None}) == b"\x00\x00\x00\x03\x01aV"
    with pytest.raises(EncodeError, match="octet: 256, expected an integer from 0 to 255"):
        codec.encode_value("octet", 256)
    with pytest.raises(EncodeError, match="'a' › field value: <object"):
        codec.encode_value("table", {"a": object()})


def test_where_an_argument_begins(codec: Codec) -> None:
    with pytest.raises(KeyError, match="colour"):
        codec.offset_of(codec.encode_method("queue.purge", {}), "colour")
    assert codec.offset_of(codec.encode_method("queue.purge", {}), "queue") == 6
    with pytest.raises(WireError, match="method at octet 0: class 1 method 2"):
        codec.offset_of(b"\0\x01\0\x02", "queue")
