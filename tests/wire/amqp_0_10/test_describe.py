"""Evidence: frames in words, problems, and octets in which no secret is left, however they are cut or lie."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest

from amqpspec.wire.amqp_0_10.describe import describe_frame, json_safe
from amqpspec.wire.amqp_0_10.direction import AssemblyDirection
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    WHOLE,
    cut,
    encode_assembly,
    encode_frame,
)
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    COMMAND,
    CONTROL,
    HEADER,
    decode_instruction,
    encode_instruction,
    kind_of,
)
from amqpspec.wire.amqp_0_10.malformed import sized
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.secrets import secret_span
from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, Raw, UnknownStruct, Value
from amqpspec.wire.greeting import ProtocolHeader
from tests.wire.amqp_0_10 import golden
from tests.wire.amqp_0_10.golden import COMMANDS, CONTROLS, GREETING, Golden

SECRET = b"\0guest\0s3cret-pass"
START_OK = encode_instruction(
    "connection.start-ok",
    {"client-properties": {"product": "p"}, "mechanism": "PLAIN", "response": SECRET, "locale": "en_US"},
)
SECURE_OK = encode_instruction("connection.secure-ok", {"response": SECRET})
TUNE_OK = encode_assembly("connection.tune-ok", channel_max=1)


def described(octets: bytes) -> list[dict[str, Any]]:
    reader = FrameReader()
    reader.feed(octets)
    found = []
    while (item := reader.next()) is not None:
        found.append(describe_frame(item))
        json.dumps(found[-1])
    return found


def words(octets: bytes) -> list[str]:
    return [item["text"] for item in described(octets)]


def shown(pieces: Iterable[bytes], direction: str = "out") -> tuple[bytes, str]:
    """The octets that evidence shows, and all that it says of them."""
    decoder = AssemblyDirection(direction)
    octets, said = b"", ""
    for piece in pieces:
        more, frames = decoder.take(piece)
        assert len(more) == len(piece)
        octets, said = octets + more, said + json.dumps(frames)
    return octets, said


# --- in words


@pytest.mark.parametrize("row", CONTROLS + COMMANDS, ids=lambda row: row.name)
def test_every_control_and_command_by_its_name_and_fields(row: Golden) -> None:
    kind = kind_of(row.name)
    (data,) = described(encode_frame(row.octets, type=kind, channel=3))
    name = "control" if kind == CONTROL else "command"
    assert (data["type"], data["channel"], data[name]) == (name, 3, row.name)
    assert data["text"].startswith(row.name)
    assert [key.replace("-", "_") for key in data["fields"]] == list(row.args)
    assert "error" not in data


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("connection.close", "connection.close reply-code=200 reply-text='OK'"),
        ("session.completed", "session.completed commands='4294967294-1' timely-reply=True"),
        ("execution.sync", "execution.sync sync"),
        ("message.transfer", "message.transfer sync destination='q' accept-mode=1 acquire-mode=0"),
        ("connection.heartbeat", "connection.heartbeat"),
        ("execution.result", "execution.result command-id=2 value={'struct': 'dtx.xa-result', 'status': 0}"),
        (
            "session.expected",
            "session.expected commands='5' fragments=[{'struct': 'session.command-fragment', 'command-id': 5,"
            " 'byte-ranges': '0-9'}]",
        ),
    ],
)
def test_lines(name: str, text: str) -> None:
    row = next(row for row in CONTROLS + COMMANDS if row.name == name)
    assert words(encode_frame(row.octets, type=kind_of(name))) == [text]


def test_a_greeting() -> None:
    assert describe_frame(ProtocolHeader(GREETING)) == {
        "type": "protocol-header",
        "text": "protocol header AMQP 1 1 0 10",
    }


def test_a_transfer_segment_by_segment() -> None:
    command, header, first, body = described(b"".join(golden.TRANSFER_FRAMES))
    assert command["text"] == "message.transfer destination='q' accept-mode=0 acquire-mode=0"
    assert header["text"] == "header (message.fragment-properties first=True last=True)"
    assert header["header"] == [{"struct": "message.fragment-properties", "first": True, "last": True}]
    assert first["text"] == "first frame of a body segment, 2 octets"
    assert body == {"text": "body of 5 octets: 68 65 6c 6c 6f", "type": "body", "channel": 7}


def test_structs_that_nobody_knows_and_types_that_are_not_defined() -> None:
    (_, header) = words(encode_assembly("message.transfer", header=[UnknownStruct((9, 99), b"ab")]))
    assert header.startswith("header (struct-9.99 2 octets: 61 62)")
    (text,) = words(encode_frame(b"ab", type=9))
    assert text.startswith(
        "type-9 of 2 octets: 61 62 — wrong: frame header: type: 9, expected a segment type; "
    )


def test_headers_without_number_are_told_in_part() -> None:
    (_, data) = described(encode_assembly("message.transfer", header=[UnknownStruct((9, 99), b"")] * 500))
    assert data["header"]["entries"] == 500
    assert len(data["header"]["first"]) == 64
    assert len(data["text"]) < 1100


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (
            encode_frame(b"\x01\x63", type=CONTROL),
            "unreadable control-1.99, 2 octets: 01 63: control-1.99 control at",
        ),
        (
            encode_frame(b"", type=COMMAND),
            "unreadable command-?, 0 octets: command-? command code at octet 12",
        ),
        (
            encode_frame(b"\0", type=HEADER),
            "unreadable header, 1 octets: 00: header struct32 at octet 12: 1 left",
        ),
        (
            encode_frame(b"x", type=BODY, flags=0),
            "body frame out of place, 1 octets: frame on channel 0 track 1 at",
        ),
        (
            encode_frame(b"x", type=BODY),
            "body of 1 octets: 78 — wrong: assembly at octet 12: a segment of type body",
        ),
        (
            encode_frame(b"xy", type=CONTROL, flags=WHOLE & ~LAST_FRAME),
            "first frame of a control segment, 2 octets",
        ),
    ],
)
def test_what_cannot_be_read(octets: bytes, text: str) -> None:
    (data,) = described(octets)
    assert data["text"].startswith(text)
    assert ("error" in data) == ("first frame" not in text)


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        (Value("sequence-set", ((1, 2), (4, 4))), "1-2, 4"),
        (Value("dec32", (2, -5)), "-5e-2"),
        (Value("list", (Value("uint8", 1), Value("list", ()))), [1, []]),
        (Map((("a", Value("uint8", 1)), ("a", Value("void", None)))), [["a", 1], ["a", None]]),
        (Array("dec64", ((0, 1),)), ["1e-0"]),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (UnknownStruct((1, 2), b"\xff"), {"struct": "struct-1.2", "octets": {"octets": 1, "hex": "ff"}}),
        (Map((("k", Value(0x8F, b"ab")),)), {"k": "ab"}),
        ("\udcff", "\\xff"),
    ],
)
def test_values_as_json(value: Any, safe: Any) -> None:
    assert json_safe(value) == safe
    json.dumps(json_safe(value))


# --- problems


def problems(
    name: str, /, header: list[Any] | None = None, body: bytes | None = None, **args: Any
) -> list[str]:
    octets = encode_assembly(name, header=header, body=body, **args)
    (last,) = described(octets)[-1:]
    return list(last.get("problems", []))


TYPICAL: dict[str, Any] = {"destination": "q", "accept_mode": 0, "acquire_mode": 0}


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        (
            "session.attach",
            {},
            ["session.attach name: no packing flag, expected the field, which is required"],
        ),
        (
            "session.detached",
            {"name": b"", "code": 9},
            ["session.detached code: 9, expected one of 0, 1, 2, 3, 4"],
        ),
        (
            "session.completed",
            {"commands": [(2, 1)]},
            [
                "session.completed commands: 2-1 ends before it begins,"
                " expected ranges in ascending order that do not touch"
            ],
        ),
        (
            "session.confirmed",
            {"fragments": [{"command-id": 1, "byte-ranges": [(0, 1), (2, 3)]}]},
            [
                "session.confirmed fragments byte-ranges: 2-3, expected ranges in ascending order that do not touch"
            ],
        ),
        (
            "connection.open",
            {"virtual_host": b"\xff"},
            ["connection.open virtual-host: '\\udcff', expected UTF-8"],
        ),
        (
            "connection.open",
            {"virtual_host": "/", "capabilities": Array("str8", ["a"])},
            ["connection.open capabilities: an array of str8, expected an array of str16"],
        ),
        (
            "execution.exception",
            {"error_code": 404, "error_info": [("k", 1), ("k", [Value("char-utf32", 0xD800)])]},
            [
                "execution.exception error-info: 'k' again, expected each key once",
                "execution.exception error-info › 'k': 55296, expected a Unicode scalar value",
            ],
        ),
        ("message.accept", {"transfers": []}, []),
    ],
)
def test_problems_of_arguments(name: str, args: dict[str, Any], expected: list[str]) -> None:
    assert problems(name, **args) == expected


@pytest.mark.parametrize(
    ("name", "header", "expected"),
    [
        ("message.transfer", golden.HEADER, []),
        ("message.transfer", golden.HEADER[2:3] * 2, ["header: message.fragment-properties 2 times"]),
        (
            "message.transfer",
            [Packed("dtx.xa-result", {"status": 0})],
            ["header: dtx.xa-result, expected structs of"],
        ),
        (
            "message.transfer",
            [Packed("message.delivery-properties", {"priority": 4})],
            ["message.delivery-properties delivery-mode: no packing flag"],
        ),
        (
            "message.transfer",
            [UnknownStruct((9, 9), b"")] * 2,
            ["header: struct-9.9 2 times, expected each struct"],
        ),
    ],
)
def test_problems_of_headers(name: str, header: list[Any], expected: list[str]) -> None:
    found = problems(name, header=list(header), body=b"b", **TYPICAL)
    assert len(found) == len(expected)
    assert all(actual.startswith(start) for actual, start in zip(found, expected, strict=True))


def test_problems_without_number_are_told_in_part() -> None:
    many = [(str(at % 10_000), None) for at in range(20_000)]
    found = problems("execution.exception", error_code=404, error_info=many, max_frame_octets=65_535)
    assert len(found) == 64
    assert found[0] == "execution.exception error-info: '0' again, expected each key once"


def test_problems_of_segments() -> None:
    assert problems("tx.select", body=b"") == ["tx.select: 1 more, expected no segment after it"]
    assert "file.stage: none, expected a header segment" in problems("file.stage", body=b"")
    (data,) = described(encode_frame(CONTROLS[8].octets, type=CONTROL, track=1))
    assert data["problems"] == ["connection.heartbeat: 1, expected the track of a control"]


# --- secrets


def in_frames(octets: bytes, most: int) -> bytes:
    return b"".join(cut([(CONTROL, octets)], max_frame_octets=most))


@pytest.mark.parametrize("segment", [START_OK, SECURE_OK])
@pytest.mark.parametrize("most", [13, 14, 16, 17, 30, 4096])
def test_a_response_in_frames_of_any_size(segment: bytes, most: int) -> None:
    octets, said = shown([GREETING, in_frames(segment, most) + TUNE_OK])
    joined = b"".join(octets[at : at + 1] for at in range(len(octets)))
    assert not any(SECRET[at : at + 3] in joined for at in range(len(SECRET) - 2))
    assert joined.endswith(TUNE_OK)
    assert "redacted, 18 octets" in said
    assert "s3c" not in said
    assert SECRET.hex(" ")[:8] not in said


@pytest.mark.parametrize("segment", [START_OK, SECURE_OK])
@pytest.mark.parametrize("most", [20, 4096])
def test_a_response_cut_in_pieces_anywhere(segment: bytes, most: int) -> None:
    whole = GREETING + in_frames(segment, most) + TUNE_OK
    for at in range(len(whole)):
        octets, said = shown([whole[:at], whole[at:]])
        assert_hidden(octets, said)
    octets, said = shown(whole[at : at + 1] for at in range(len(whole)))
    assert_hidden(octets, said)


def assert_hidden(octets: bytes, said: str) -> None:
    # Single octets of a frame of one octet could only be recognised by their neighbours.
    for part in (b"s3c", b"cret", b"pass", b"gue"):
        assert part not in octets
        assert part.decode() not in said
        assert part.hex(" ") not in said


def test_what_stands_beside_the_response_is_shown() -> None:
    octets, said = shown([in_frames(START_OK, 4096)])
    assert octets == in_frames(START_OK, 4096).replace(SECRET, b"*" * len(SECRET))
    assert secret_span(START_OK, whole=True) == (START_OK.index(SECRET), START_OK.index(SECRET) + len(SECRET))
    assert "'product': 'p'" in said
    assert "mechanism='PLAIN'" in said
    assert "locale='en_US'" in said


LIES = [
    encode_assembly("connection.secure-ok", response=b"") + SECRET,
    in_frames(START_OK[:-6] + b"\xff" + START_OK[-5:], 4096),
    in_frames(START_OK.replace(b"\x05PLAIN", b"\x14PLAIN"), 4096),
    in_frames(START_OK.replace(b"\x05PLAIN", b"\x0cPLAIN"), 4096),
    in_frames(START_OK[:2] + b"\x0b\x00" + START_OK[4:], 4096),
    in_frames(START_OK[:2] + b"\xff\xff" + START_OK[4:], 4096),
    in_frames(START_OK[:40], 4096),
    in_frames(SECURE_OK + b"more", 4096),
    in_frames(SECURE_OK[:2] + b"\0\0" + SECURE_OK[4:], 4096),
    encode_assembly("connection.start-ok", mechanism=SECRET, locale="x"),
    encode_assembly("connection.start-ok", mechanism="PLAIN", locale=SECRET),
    encode_assembly("connection.start-ok", mechanism=Raw(SECRET), locale="x"),
    encode_assembly("connection.start-ok", client_properties={"a": SECRET}, mechanism="no name"),
    encode_assembly("connection.secure-ok", response=sized("vbin32", SECRET, 4)),
    encode_assembly("connection.secure-ok", response=sized("vbin32", SECRET, 400)),
    in_frames(SECURE_OK, 4096) + encode_frame(SECRET, type=9),
    in_frames(SECURE_OK, 4096) + encode_frame(SECRET, type=CONTROL, flags=WHOLE & ~LAST_FRAME),
    # Its first code is in a separate frame.
    encode_frame(SECURE_OK[:1], type=CONTROL, flags=WHOLE & ~LAST_FRAME)
    + encode_frame(SECURE_OK[1:], type=CONTROL, flags=WHOLE & ~FIRST_FRAME),
    encode_frame(SECURE_OK, type=CONTROL, size=12 + 2),
    encode_frame(SECURE_OK, type=CONTROL, size=0),
    encode_frame(b"", type=CONTROL, flags=WHOLE & ~LAST_FRAME) + SECURE_OK,
    # The frame ends before its secret does, or the secret stands where no control does.
    encode_frame(START_OK, type=CONTROL, size=12 + 40),
    encode_frame(SECURE_OK, type=CONTROL, size=12 + 10),
    encode_frame(SECURE_OK, type=CONTROL, size=12),
    encode_frame(SECURE_OK, type=CONTROL, size=5),
    encode_frame(SECURE_OK, type=CONTROL, flags=0),
    encode_frame(SECURE_OK, type=CONTROL, flags=FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME),
    *(encode_frame(SECURE_OK, type=kind) for kind in (COMMAND, HEADER, BODY, 9)),
    encode_frame(SECURE_OK[:10], type=CONTROL) + SECURE_OK[10:],
    encode_frame(
        SECURE_OK[:4] + b"\0\0\0\4" + SECURE_OK[8:12], type=CONTROL
    ) + SECURE_OK[12:],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LIES)))
def test_a_response_that_lies(number: int) -> None:
    for at in (len(GREETING), *range(len(GREETING), len(GREETING + LIES[number]), 5)):
        whole = GREETING + LIES[number] + b"\0" * 16
        octets, said = shown([whole[:at], whole[at:]])
        assert_hidden(octets, said)


def test_what_cannot_be_read_is_told_without_its_octets() -> None:
    (data,) = described(in_frames(START_OK[:40], 4096))
    assert "cannot be read, expected" in data["text"]
    assert data["fields"].keys() == {"client-properties", "mechanism"}
    assert set(data["fields"].values()) == {"<redacted>"}
    assert "framing lost" in shown([in_frames(SECURE_OK, 4096), bytes(12)])[1]


def test_the_header_with_which_framing_is_lost_is_shown_before_the_login() -> None:
    lost = encode_frame(SECURE_OK, type=CONTROL, size=11)
    octets, said = shown([GREETING + lost[:12], lost[12:], b"more"])
    assert octets == GREETING + lost[:12] + b"*" * (len(SECURE_OK) + 4)
    assert "size 11 announced" in said
    assert shown([b"AMQX" + lost])[0] == b"AMQX" + lost


def test_after_the_login_bodies_are_shown_whatever_they_begin_with() -> None:
    transfer = encode_assembly("message.transfer", body=SECURE_OK)
    assert shown([GREETING, in_frames(START_OK, 4096), TUNE_OK, transfer])[0].endswith(transfer)
    assert shown([GREETING + transfer], "in")[0] == GREETING + transfer


def test_what_a_server_sends_in_good_order_is_shown() -> None:
    octets = GREETING + b"".join(
        encode_frame(row.octets, type=CONTROL) for row in CONTROLS if "-ok" not in row.name
    )
    assert shown([octets[:50], octets[50:]], "in")[0] == octets


def test_lost_framing_is_told_once_and_the_rest_is_shown() -> None:
    decoder = AssemblyDirection("in")
    octets, frames = decoder.take(GREETING + bytes(12))
    assert octets == GREETING + bytes(12)
    assert frames[-1]["text"] == (
        "not decodable: frame of server→client at octet 8: size 0 announced, expected a size of at least 12"
    )
    assert decoder.take(b"more") == (b"more", [])


def test_unsound_arguments_are_not_shown() -> None:
    unsound = decode_instruction(CONTROL, encode_instruction("connection.start-ok", {"mechanism": "a b"}))
    assert unsound.error is None
    (data,) = described(encode_assembly("connection.start-ok", mechanism="a b", response=SECRET))
    assert data["fields"] == {"mechanism": "<redacted>", "response": "<redacted>"}
    assert data["problems"] == ["connection.start-ok locale: expected the field, which is required"]
