"""Frames in words: readable, unreadable, and never with a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.describe import describe_frame, json_safe, redacted
from amqpspec.wire.methods.frames import Frame, encode_frame
from amqpspec.wire.methods.malformed import (
    every_cut,
    header_payload,
    method_payload,
    nested_tables,
    overwritten,
)
from amqpspec.wire.values import Raw, Table, Typed
from tests.wire.strategies import CODECS, DIALECTS, calls, content_headers, tables

SECRET = b"\0guest\0hunter2-hunter2"
WORDS = b"hunter2"


def method(codec: Codec, name: str, channel: int = 1, **args: Any) -> Frame:
    return Frame(1, channel, codec.encode_method(name, args))


# --- readable frames


def test_a_method(codec: Codec) -> None:
    said = describe_frame(codec, method(codec, "queue.bind", queue="q", arguments={"x-a": 1}))
    assert said == {
        "type": "method",
        "channel": 1,
        "text": "queue.bind queue='q' exchange='' routing-key='' no-wait=False arguments={'x-a': 1}",
        "method": "queue.bind",
        "fields": {
            "queue": "q",
            "exchange": "",
            "routing-key": "",
            "no-wait": False,
            "arguments": {"x-a": 1},
        },
    }


def test_what_is_reserved_is_shown_when_it_is_used(codec: Codec) -> None:
    said = describe_frame(codec, method(codec, "queue.purge", reserved_1=7))
    assert said["fields"]["reserved-1"] == 7


def test_a_content_header(codec: Codec) -> None:
    header = ContentHeader(60, 12, {"content_type": "text/plain", "priority": 0}, 1)
    said = describe_frame(codec, Frame(2, 3, codec.encode_header(header)))
    assert said == {
        "type": "header",
        "channel": 3,
        "text": "content header of basic, 12 octets of body content-type='text/plain' priority=0",
        "fields": {
            "class": "basic",
            "weight": 1,
            "body-size": 12,
            "properties": {"content-type": "text/plain", "priority": 0},
        },
    }


@pytest.mark.parametrize(
    ("frame", "kind", "text"),
    [
        (Frame(3, 1, b""), "body", "content body, 0 octets"),
        (Frame(3, 1, b"abc"), "body", "content body, 3 octets: 61 62 63"),
        (Frame(3, 1, bytes(100_000)), "body", f"content body, 100000 octets: {'00 ' * 24}…"),
        (Frame(8, 0, b""), "heartbeat", "heartbeat"),
        (Frame(8, 0, b"\x01"), "heartbeat", "heartbeat with a payload of 1 octets: 01"),
        (Frame(4, 0, b"\x01"), "type-4", "frame of unknown type 4, 1 octets: 01"),
    ],
)
def test_other_frames(codec: Codec, frame: Frame, kind: str, text: str) -> None:
    said = describe_frame(codec, frame)
    assert (said["type"], said["channel"], said["text"]) == (kind, frame.channel, text)


def test_a_protocol_header(codec: Codec) -> None:
    said = describe_frame(codec, ProtocolHeader(b"AMQP\x01\x01\x08\x00"))
    assert said == {"type": "protocol-header", "text": "protocol header AMQP 1 1 8 0"}


@pytest.mark.parametrize("codec", CODECS, ids=DIALECTS)
@given(data=st.data())
def test_everything_is_json(codec: Codec, data: st.DataObject) -> None:
    name, args = data.draw(calls(codec.dialect.id))
    header = data.draw(content_headers(codec.dialect, codec.dialect.classes_by_name["basic"]))
    for frame in (method(codec, name, **args), Frame(2, 1, codec.encode_header(header))):
        said = describe_frame(codec, frame)
        assert json.loads(json.dumps(said, allow_nan=False, ensure_ascii=False).encode()) == said
        assert len(said["text"]) < 1100


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        (b"PLAIN AMQPLAIN", "PLAIN AMQPLAIN"),
        (b"two\nlines", "two\nlines"),
        (b"", ""),
        (b" ", " "),
        (b"\x00a", {"octets": 2, "hex": "0061"}),
        (b"\xff", {"octets": 1, "hex": "ff"}),
        (b"\xff" * 300, {"octets": 300, "hex": "ff" * 256 + "…"}),
        (b"x" * 300, "x" * 256 + "… (300 characters)"),
        ("caf\udce9", "caf\\xe9"),
        ("x" * 257, "x" * 256 + "… (257 characters)"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1.5, 1.5),
        ((2, 5), "5e-2"),
        (None, None),
        ([Typed("t", True), Typed("S", b"a")], [True, "a"]),
        ([Typed("t", True)] * 65, {"entries": 65, "first": [True] * 64}),
        (Table([("a", Typed("I", 1)), ("b", Typed("V", None))]), {"a": 1, "b": None}),
        (Table([("a", Typed("I", 1)), ("a", Typed("I", 2))]), [["a", 1], ["a", 2]]),
        (Table([("a", Typed("I", 1))] * 65), {"entries": 65, "first": [["a", 1]] * 64}),
    ],
)
def test_values_as_json(value: Any, safe: Any) -> None:
    assert json_safe(value) == safe


# --- unreadable frames


def test_an_unreadable_method(codec: Codec) -> None:
    said = describe_frame(codec, Frame(1, 2, method_payload(50, 10, b"\x00\x00\x09q")))
    what = "queue at octet 7: 1 left, expected 9 octets"
    assert said == {
        "type": "method",
        "channel": 2,
        "text": f"unreadable queue.declare, 8 octets: 00 32 00 0a 00 00 09 71: {what}",
        "method": "queue.declare",
        "error": what,
    }


@pytest.mark.parametrize(
    ("frame", "starts"),
    [
        (Frame(1, 1, b""), "unreadable method, 0 octets: method at octet 0: 0 octets, expected class-id"),
        (
            Frame(1, 1, method_payload(1, 2)),
            "unreadable method, 4 octets: 00 01 00 02: method at octet 0: class 1",
        ),
        (Frame(2, 1, header_payload(1)), "unreadable header, 14 octets: 00 01 00 00"),
        (Frame(1, 1, method_payload(50, 10, b"\0\0\0\0" + nested_tables(99))), "unreadable queue.declare, "),
    ],
)
def test_other_unreadable_frames(codec: Codec, frame: Frame, starts: str) -> None:
    said = describe_frame(codec, frame)
    assert said["text"].startswith(starts)
    assert said["text"].endswith(said["error"])


# --- secrets


def start_ok(codec: Codec, **args: Any) -> bytes:
    given_ = {
        "client_properties": {"product": "p"},
        "mechanism": "PLAIN",
        "response": SECRET,
        "locale": "en_US",
    }
    return codec.encode_method("connection.start-ok", {**given_, **args})


def wrapped(codec: Codec, payload: bytes, type_code: int = 1) -> bytes:
    return encode_frame(codec.dialect.layout, Frame(type_code, 0, payload))


def secret_payloads(codec: Codec) -> list[bytes]:
    payloads = [start_ok(codec), codec.encode_method("connection.secure-ok", {"response": SECRET})]
    if "connection.update-secret" in codec.dialect.methods:
        payloads.append(
            codec.encode_method("connection.update-secret", {"new_secret": SECRET, "reason": "r"})
        )
    return payloads


def test_secrets_are_masked_octet_by_octet(codec: Codec) -> None:
    layout = codec.dialect.layout
    for payload in secret_payloads(codec):
        octets = wrapped(codec, payload)
        assert redacted(codec, layout, octets) == octets.replace(SECRET, b"*" * len(SECRET))


def test_secrets_are_not_described(codec: Codec) -> None:
    for payload in secret_payloads(codec):
        said = describe_frame(codec, Frame(1, 0, payload))
        field = "new-secret" if "update" in said["method"] else "response"
        assert said["fields"][field] == f"<redacted, {len(SECRET)} octets>"
        assert f"{field}='<redacted, {len(SECRET)} octets>'" in said["text"]
        assert WORDS in payload
        assert_silent(said)


def assert_silent(said: Any) -> None:
    text = json.dumps(said)
    assert WORDS.decode() not in text
    assert WORDS.hex(" ") not in text
    assert WORDS.hex() not in text


def test_an_empty_secret_is_no_secret(codec: Codec) -> None:
    octets = wrapped(codec, start_ok(codec, response=b""))
    assert redacted(codec, codec.dialect.layout, octets) == octets


def test_a_secret_that_stands_elsewhere_too_is_masked_where_it_belongs(codec: Codec) -> None:
    octets = wrapped(codec, start_ok(codec, mechanism="PLAIN", response=b"PLAIN"))
    masked = redacted(codec, codec.dialect.layout, octets)
    assert masked == octets.replace(b"\0\0\0\x05PLAIN", b"\0\0\0\x05*****")
    assert b"\x05PLAIN" in masked


@pytest.mark.parametrize("type_code", [1, 2, 3, 8, 77])
def test_cut_and_mistyped_frames_keep_their_secrets(codec: Codec, type_code: int) -> None:
    layout = codec.dialect.layout
    for payload in secret_payloads(codec):
        for part in every_cut(payload):
            octets = wrapped(codec, part, type_code)
            for shown in (redacted(codec, layout, octets), redacted(codec, layout, octets[:-1])):
                assert b"hunter" not in shown
            assert len(redacted(codec, layout, octets)) == len(octets)
            assert_silent(describe_frame(codec, Frame(type_code, 0, part)))


@pytest.mark.parametrize("size", [0, 1, 5, 12, 13, 15, 20, 27, 30, 2**32 - 1])
def test_lying_sizes_keep_their_secrets(codec: Codec, size: int) -> None:
    for payload in secret_payloads(codec):
        octets = wrapped(codec, overwritten(payload, 4, size.to_bytes(4, "big")))
        masked = redacted(codec, codec.dialect.layout, octets)
        assert WORDS not in masked
        assert (len(masked), masked[:15], masked[-1:]) == (len(octets), octets[:15], octets[-1:])


def test_what_was_understood_of_an_unreadable_frame_stays(codec: Codec) -> None:
    illegal = start_ok(codec, client_properties=Table([("a", Typed("?", Raw(b"")))]))
    masked = redacted(codec, codec.dialect.layout, wrapped(codec, illegal))
    kept = 7 + len(b"\x00\x0a\x00\x0b" + b"\0\0\0\x03" + b"\x01a")
    assert masked == wrapped(codec, illegal)[:kept] + b"*" * (len(masked) - kept - 1) + b"\xce"
    trailing = wrapped(codec, start_ok(codec) + b"more")
    masked = redacted(codec, codec.dialect.layout, trailing)
    assert masked[: trailing.index(b"\x05PLAIN")] == trailing[: trailing.index(b"\x05PLAIN")]
    assert set(masked[trailing.index(b"\x05PLAIN") : -1]) == {0x2A}


@pytest.mark.parametrize("dialect_id", DIALECTS)
@given(data=st.data())
def test_frames_without_secrets_stay_as_they_are(dialect_id: str, data: st.DataObject) -> None:
    codec = codec_for(dialect_id)
    name, args = data.draw(calls(dialect_id))
    if name not in ("connection.start-ok", "connection.secure-ok", "connection.update-secret"):
        octets = wrapped(codec, codec.encode_method(name, args))
        assert redacted(codec, codec.dialect.layout, octets) == octets


@given(octets=st.binary(max_size=40))
def test_redaction_takes_any_octets(octets: bytes) -> None:
    for codec in CODECS:
        assert len(redacted(codec, codec.dialect.layout, octets)) == len(octets)
        secret = wrapped(codec, b"\x00\x0a\x00\x0b" + octets)
        assert len(redacted(codec, codec.dialect.layout, secret)) == len(secret)


@given(table=tables(CODECS[1].dialect.table_tags))
def test_only_the_secret_of_start_ok_is_masked(table: Table) -> None:
    codec = CODECS[1]
    payload = start_ok(codec, client_properties=table)
    at = codec.offset_of(payload, "response") + 4 + 7
    masked = redacted(codec, codec.dialect.layout, wrapped(codec, payload))
    whole = wrapped(codec, payload)
    assert masked == whole[:at] + b"*" * len(SECRET) + whole[at + len(SECRET) :]
