"""What evidence shows: frames in words, octets without secrets, whole and in pieces, legal and bent."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.describe import describe_frame, redacted, secret_spans
from amqpspec.wire.amqp_1_0.direction import TypedDirection
from amqpspec.wire.amqp_1_0.frames import (
    EMPTY_FRAME,
    TypedFrame,
    TypedReader,
    encode_frame,
    performative_frame,
)
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Array, Described, Raw, Repeated, Symbol, Value
from amqpspec.wire.amqp_1_0.writing import encode
from amqpspec.wire.greeting import ProtocolHeader

SECRET = b"\x00guest\x00s3cret-word"
INIT = performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, hostname="h")
RESPONSE = performative_frame("sasl-response", response=SECRET)


def said(octets: bytes) -> dict[str, object]:
    reader = TypedReader()
    reader.feed(octets)
    frame = reader.next()
    assert isinstance(frame, TypedFrame | ProtocolHeader)
    told = describe_frame(frame)
    json.dumps(told)
    return told


def test_frames_in_words() -> None:
    assert said(HEADERS["sasl"])["text"] == "protocol header AMQP 3 1 0 0 (sasl)"
    assert said(EMPTY_FRAME) == {"type": "amqp", "channel": 0, "text": "empty amqp frame"}
    assert said(performative_frame("open", container_id="x", offered_capabilities="a")) == {
        "type": "amqp",
        "channel": 0,
        "text": "open container-id='x' offered-capabilities=['a']",
        "performative": "open",
        "fields": {"container-id": "x", "offered-capabilities": ["a"]},
    }
    closed = said(performative_frame("close", error={"condition": "amqp:not-found", "info": {"k": b"\xff"}}))
    assert closed["fields"] == {
        "error": {
            "type": "error",
            "condition": "amqp:not-found",
            "info": {"k": {"octets": 1, "hex": "ff"}},
        }
    }
    moved = said(performative_frame("transfer", 1, handle=0, payload=encode_message(data=b"abc")))
    assert moved["text"] == "transfer handle=0 payload of 8 octets (data 8)"
    assert said(encode_frame(b"??", 0, 7))["text"] == "frame of unknown type 7, 2 octets: 3f 3f"


def test_what_is_wrong_is_told() -> None:
    told = said(performative_frame("begin", next_outgoing_id=1, incoming_window=Value("string", "x")))
    assert told["problems"] == [
        "begin incoming-window: string 'x', expected uint",
        "begin outgoing-window: none, expected a value, for it is mandatory",
    ]
    unread = said(encode_frame(bytes.fromhex("005310c0")))
    assert str(unread["text"]).startswith("unreadable frame, 4 octets: 00 53 10 c0: performative: list8")
    assert unread["error"]


def test_secrets_are_taken_out_of_text_and_octets() -> None:
    for octets in (INIT, RESPONSE):
        told = said(octets)
        assert "s3cret" not in json.dumps(told)
        assert f"<redacted, {len(SECRET)} octets>" in str(told["text"])
        hidden = redacted(octets)
        assert hidden == octets.replace(SECRET, b"*" * len(SECRET))
    (span,) = secret_spans(INIT)
    assert INIT[slice(*span)] == SECRET
    assert secret_spans(performative_frame("sasl-init", mechanism="ANONYMOUS")) == []
    challenge = performative_frame("sasl-challenge", challenge=b"r=nonce")
    assert redacted(challenge) == challenge


BY_SYMBOL = Symbol("amqp:sasl-init:list")
BENT = [
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=Value("string", "s3cret-word")),
    performative_frame("sasl-init", mechanism=Raw(b"\x01"), initial_response=SECRET),
    performative_frame("sasl-init", mechanism=Raw(b"\xa3\x14PLAIN"), initial_response=SECRET),
    performative_frame("sasl-init", mechanism=Raw(b"\xa3\xffPLAIN"), initial_response=SECRET),
    performative_frame("sasl-init", mechanism=None, initial_response=SECRET),
    performative_frame(
        "sasl-init", mechanism="PLAIN", initial_response=Raw(b"\xb0\xff\xff\xff\xff" + SECRET)
    ),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=Value("list", [SECRET])),
    performative_frame(
        "sasl-init", mechanism="PLAIN", initial_response=SECRET, hostname=Raw(b"\x02"), extra=[SECRET]
    ),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, extra=[SECRET]),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, frame_type=0),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, doff=1),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, doff=9),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, size=4),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, size=24),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, size=1 << 30),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, list_count=9),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, list_size=3),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, encoding="list32"),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, encoding="list0"),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, descriptor=BY_SYMBOL),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, descriptor=Symbol("no:such")),
    performative_frame("sasl-init", mechanism="PLAIN", initial_response=SECRET, descriptor=Raw(b"\x3f")),
    performative_frame("sasl-response", response=Raw(b"\xa0\x02" + SECRET)),
    performative_frame("sasl-response", response=SECRET, payload=SECRET),
    encode_frame(encode(SECRET), 0, 1),
    encode_frame(SECRET, 0, 1),
    encode_frame(b"", 0, 1) + SECRET * 2,
]


@pytest.mark.parametrize("octets", BENT, ids=range(len(BENT)))
@pytest.mark.parametrize("step", [1, 3, 1000])
def test_no_secret_is_seen_however_the_exchange_is_bent_and_cut(octets: bytes, step: int) -> None:
    direction = TypedDirection("out")
    stream = HEADERS["sasl"] + octets + performative_frame("open", container_id="late")
    shown, told = b"", []
    for at in range(0, len(stream), step):
        part, frames = direction.take(stream[at : at + step])
        shown += part
        told += frames
    assert len(shown) == len(stream)
    assert b"s3cret" not in shown and b"cret-w" not in shown
    assert "s3cret" not in json.dumps(told)


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_a_direction_is_the_same_at_any_step(step: int) -> None:
    transfer = performative_frame("transfer", 1, handle=0, payload=b"\x00" * 40)
    stream = HEADERS["sasl"] + INIT + RESPONSE + HEADERS["amqp"] + EMPTY_FRAME + transfer
    direction = TypedDirection("out")
    shown, told = b"", []
    for at in range(0, len(stream), step):
        part, frames = direction.take(stream[at : at + step])
        shown += part
        told += frames
    assert shown == stream.replace(SECRET, b"*" * len(SECRET))
    assert [t["text"].split()[0] for t in told] == [
        "protocol", "sasl-init", "sasl-response", "protocol", "empty", "transfer",
    ]  # fmt: skip
    assert [t["offset"] for t in told] == [0, 8, 8 + len(INIT), *(t["offset"] for t in told[3:])]
    assert sum(t["octets"] for t in told) == len(stream)


def test_a_secret_in_which_framing_is_lost_is_hidden_to_the_end_outside_of_sasl_too() -> None:
    direction = TypedDirection("out")
    broken = performative_frame("sasl-response", response=SECRET, size=4)
    shown, told = direction.take(HEADERS["amqp"] + broken[:-3])
    assert b"s3cret" not in shown and "not decodable" in told[-1]["text"]
    assert direction.take(broken[-3:] + b"more") == (b"*" * 7, [])


def test_what_a_server_breaks_is_shown() -> None:
    direction = TypedDirection("in")
    shown, told = direction.take(HEADERS["sasl"] + b"HTTP/1.1 400 Bad Request")
    assert shown.endswith(b"HTTP/1.1 400 Bad Request")
    assert "size 1213486160 announced" in told[-1]["text"]
    assert direction.take(b"more") == (b"more", [])


def test_long_things_are_cut() -> None:
    told = said(
        performative_frame("open", container_id="x" * 5000, properties={f"k{n}": n for n in range(100)})
    )
    assert len(str(told["text"])) < 1100
    assert len(json.dumps(told)) < 6000


def test_every_kind_of_value_is_json() -> None:
    info = {
        "uuid": UUID(int=1),
        "nan": float("nan"),
        "described": Described(Symbol("d"), [1, b"\xff\xfe"]),
        "many": list(range(100)),
        "same": Value("array", Array("null", Repeated(None, 9))),
        "torn": Raw(b"\xa1\x01\xff"),
    }
    told = said(performative_frame("end", error={"condition": "x:y", "info": info}))
    fields = told["fields"]
    assert isinstance(fields, dict)
    assert fields["error"]["info"] == {
        "uuid": "00000000-0000-0000-0000-000000000001",
        "nan": "nan",
        "described": {"descriptor": "d", "value": [1, {"octets": 2, "hex": "fffe"}]},
        "many": {"entries": 100, "first": list(range(64))},
        "same": {"entries": 9, "each": None},
        "torn": "\\xff",
    }


def test_what_is_wrong_beside_a_secret_is_told_without_it() -> None:
    told = said(
        performative_frame("sasl-init", mechanism="PLAIN", initial_response=Value("string", "s3cret-word"))
    )
    assert told["problems"] == ["sasl-init initial-response: expected binary"]
    frame = TypedReader()
    frame.feed(INIT)
    assert "s3cret" not in repr(frame.next())
