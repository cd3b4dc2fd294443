"""What evidence says of commands, and that no secret is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.describe import describe_frame, redacted
from amqpspec.wire.amqp_fast_0_8.direction import CommandDirection
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, command_frame, encode_frame
from amqpspec.wire.amqp_fast_0_8.malformed import counted
from amqpspec.wire.amqp_fast_0_8.message import encode_message
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.values import Raw, Typed
from amqpspec.wire.words import MAX_LINE
from tests.wire.amqp_fast_0_8.golden import COMMANDS, GREETING, Golden
from tests.wire.amqp_fast_0_8.strategies import commands

EACH = pytest.mark.parametrize("row", COMMANDS, ids=lambda row: f"{row.name}-{len(row.octets)}")
SECRET = "gUeSt5-of-Honour"
RESPONSE = command_frame(
    "connection.response", mechanism="PLAIN", responses={"LOGIN": "me", "PASSWORD": SECRET}
)
TUNE = command_frame("connection.tune")
PING = command_frame("connection.ping")


def described(octets: bytes, direction: str = "in") -> list[dict[str, Any]]:
    """What a direction says of octets, which have to be shown as they are."""
    shown, frames = CommandDirection(direction).take(octets)
    assert shown == octets
    json.dumps(frames)
    return frames


def only(octets: bytes) -> dict[str, Any]:
    (frame,) = described(octets)
    return frame


# --- in words


@EACH
def test_every_command_is_said_with_its_fields(row: Golden) -> None:
    if row.name == "connection.response":
        return
    frame = only(row.octets)
    fields = [field.name for field in DIALECT.commands_by_name[row.name].fields]
    assert (frame["type"], frame["command"]) == (row.name.partition(".")[0], row.name)
    assert list(frame["fields"]) == fields
    assert frame["text"].startswith(f"{row.name} ") and all(f" {name}=" in frame["text"] for name in fields)
    assert (frame["offset"], frame["octets"]) == (0, len(row.octets))
    assert frame.get("channel") == row.fields.get("channel_id")
    assert frame.get("fragment", {}).get("octets", 0) == len(row.fragment)


def test_one_line() -> None:
    assert only(command_frame("channel.ack", channel_id=3, message_nbr=7)) == {
        "offset": 0,
        "octets": 12,
        "type": "channel",
        "text": "channel.ack channel-id=3 confirm-tag=0 message-nbr=7",
        "command": "channel.ack",
        "channel": 3,
        "fields": {"channel-id": 3, "confirm-tag": 0, "message-nbr": 7},
    }
    assert describe_frame(ProtocolHeader(GREETING)) == {
        "type": "protocol-header", "text": "protocol header 80 01",
    }  # fmt: skip


def test_values_as_json() -> None:
    options = [("a", Typed("D", (2, 12345))), ("b", b"\xff\x00"), ("c", "text"), ("d", -1)]
    frame = only(command_frame("channel.commit", options=options))
    shown = {"a": "12345e-2", "b": {"octets": 2, "hex": "ff00"}, "c": "text", "d": -1}
    assert frame["fields"]["options"] == shown
    twice = only(command_frame("channel.commit", options=[("a", 1), ("a", 2)]))
    assert twice["fields"]["options"] == [["a", 1], ["a", 2]]


def test_a_line_is_not_endless() -> None:
    frame = only(
        command_frame("handle.query", selector=b"x" * 60_000, dest_name="y" * 255, mime_type="z" * 255)
    )
    assert len(frame["text"]) < MAX_LINE + 50
    many = only(command_frame("channel.commit", options=[(f"k{n}", 1) for n in range(500)]))
    assert many["fields"]["options"]["entries"] == 500


def test_a_fragment_that_opens_a_message() -> None:
    message = encode_message(b"hello", identifier="m", priority=4)
    frame = only(command_frame("handle.notify", handle_id=1, dest_name="q", fragment=message))
    assert frame["fragment"]["octets"] == len(message)
    assert (frame["fragment"]["body_octets"], frame["fragment"]["head"]["identifier"]) == (5, "m")
    assert f" fragment of {len(message)} octets: message head body-size=5 " in frame["text"]
    assert frame["text"].endswith("headers={} body begins with 5 octets: 68 65 6c 6c 6f")


def test_a_fragment_that_goes_on() -> None:
    first = command_frame(
        "handle.notify", handle_id=1, partial=True, fragment=encode_message(b"he", body_size=5)
    )
    rest = command_frame("handle.notify", handle_id=1, fragment=b"llo")
    frames = described(first + rest)
    assert frames[1]["fragment"] == {"octets": 3}
    assert frames[1]["text"].endswith(" fragment of 3 octets: 6c 6c 6f")


def test_a_head_that_cannot_be_read() -> None:
    frame = only(command_frame("handle.send", handle_id=1, fragment=b"\x00\x00\x00\x05"))
    assert frame["fragment"] == {"octets": 4}
    assert "unreadable message head: persistent at octet 4: 0 left, expected 1 octets" in frame["text"]


def test_a_command_that_cannot_be_read() -> None:
    first, second = described(PING + command_frame("handle.open", channel_id=5, extra=b"x"))
    assert (first["command"], second["command"], second["channel"]) == ("connection.ping", "handle.open", 5)
    assert second["error"] == "handle.open fields at octet 19: 1 octets more, expected the end of the fields"
    assert second["text"] == f"unreadable handle.open, 12 octets: 00 05{' 00' * 9} 78: {second['error']}"
    assert "fields" not in second


def test_a_code_that_there_is_not() -> None:
    frame = only(encode_frame(33, b"\x01"))
    assert (frame["type"], frame["text"]) == (
        "unknown",
        "unreadable command-33, 1 octets: 01: command at octet 2: code 33, expected a command of amqp-fast-0-8",
    )
    assert "command" not in frame


def test_a_stream_that_is_lost() -> None:
    frames = described(PING + b"\x00\x02\x0e\x00" + PING)
    assert frames[1] == {
        "offset": 5,
        "text": "not decodable: frame of server→client at octet 8: end octet 0x00, expected 0xCE",
    }


# --- secrets


def shown_in(*pieces: bytes, direction: str = "out") -> str:
    """All that evidence shows of these octets; their number stays."""
    view = CommandDirection(direction)
    octets = b""
    frames: list[dict[str, Any]] = []
    for piece in pieces:
        shown, more = view.take(piece)
        assert len(shown) == len(piece)
        octets, frames = octets + shown, frames + more
    return octets.decode("latin-1") + json.dumps(frames)


def leaks(shown: str) -> bool:
    """Whether four characters of the secret in a row are shown, in clear or in hex."""
    parts = [SECRET[at : at + 4] for at in range(len(SECRET) - 3)]
    return any(part in shown or part.encode().hex(" ") in shown for part in parts)


def test_a_response_is_starred() -> None:
    direction = CommandDirection("out")
    shown, frames = direction.take(GREETING + RESPONSE + TUNE)
    table = len(RESPONSE) - 3 - 6 - 2 - 1
    assert shown == GREETING + RESPONSE[:11] + b"*" * table + b"\xce" + TUNE
    assert frames[1]["fields"] == {"mechanism": "PLAIN", "responses": "<redacted, 2 fields>"}
    assert redacted(RESPONSE) == shown[2 : 2 + len(RESPONSE)]
    assert frames[2]["command"] == "connection.tune"


def test_a_response_with_an_escaped_size_is_starred() -> None:
    octets = command_frame(
        "connection.response", mechanism="PLAIN", responses={"PASSWORD": SECRET}, escaped=True
    )
    assert octets.startswith(b"\xff\xff")
    assert redacted(octets).startswith(octets[:15] + b"****")
    assert not leaks(shown_in(GREETING, octets, TUNE))


@pytest.mark.parametrize("at", range(len(GREETING + RESPONSE)))
def test_a_response_in_two_pieces_is_starred(at: int) -> None:
    octets = GREETING + RESPONSE
    shown = shown_in(octets[:at], octets[at:], TUNE)
    assert not leaks(shown) and "PLAIN" in shown and "connection.tune" in shown
    assert not leaks(shown_in(octets[:at]))


def test_octet_by_octet() -> None:
    octets = GREETING + RESPONSE + PING
    assert not leaks(shown_in(*(octets[at : at + 1] for at in range(len(octets)))))


BODY = RESPONSE[3:-1]
TABLE = BODY[8:]


@pytest.mark.parametrize(
    "octets",
    [
        # the table, a value or the mechanism is longer or shorter than what there is
        encode_frame(11, counted("shortstr", b"PLAIN") + counted("table", TABLE, 500)),
        encode_frame(11, counted("shortstr", b"PLAIN") + counted("table", TABLE, 5)),
        encode_frame(11, counted("shortstr", b"PLAIN", 255) + counted("table", TABLE)),
        encode_frame(11, counted("shortstr", b"PLAIN", 40) + counted("table", TABLE)),
        encode_frame(11, counted("shortstr", b"PLAIN", 2) + counted("table", TABLE)),
        encode_frame(11, counted("shortstr", b"PLAIN" + TABLE) + counted("table")),
        encode_frame(11, BODY + b"more"),
        encode_frame(11, BODY[:-3]),
        encode_frame(11, SECRET.encode("latin-1")),
        # the frame is longer or shorter than its size says, or ends otherwise
        encode_frame(11, BODY, size=len(BODY)),
        encode_frame(11, BODY, size=len(BODY) - 6),
        encode_frame(11, BODY, size=300),
        encode_frame(11, BODY, size=60_000),
        encode_frame(11, BODY, size=0xFFFFFFFF),
        encode_frame(11, BODY, size=1),
        encode_frame(11, BODY, end=0),
        # a size that ends in the middle of the secret, where an end octet happens to stand
        encode_frame(11, BODY[:-8] + b"\xce" + BODY[-8:], size=len(BODY) - 6),
    ],
)
def test_a_response_that_cannot_be_read_is_starred(octets: bytes) -> None:
    for pieces in (
        (GREETING + octets,),
        (GREETING, octets, TUNE),
        (GREETING + octets[:30], octets[30:] + TUNE),
    ):
        assert not leaks(shown_in(*pieces))
    assert not leaks(redacted(octets).decode("latin-1"))


def test_what_is_said_of_a_response_that_cannot_be_read() -> None:
    octets = encode_frame(11, counted("shortstr", b"PLAIN") + counted("table", b"\x01kX" + SECRET.encode()))
    frame = CommandDirection("out").take(GREETING + octets)[1][1]
    assert frame["error"] == (
        "connection.response responses: field value at octet 15: cannot be read, expected a type tag of SIDT"
    )
    assert frame["text"] == f"unreadable connection.response, {len(octets) - 4} octets: {frame['error']}"
    lost = CommandDirection("out").take(GREETING + encode_frame(11, BODY, end=0x41))[1][1]
    assert lost["text"].endswith(f"at octet {len(RESPONSE) + 1}: framing lost, expected 0xCE")


def test_the_last_octet_is_shown_where_it_ends_a_frame() -> None:
    assert redacted(RESPONSE)[-1:] == b"\xce"
    for octets in (encode_frame(11, BODY, end=0x41), encode_frame(11, BODY, size=300), RESPONSE[:-1]):
        assert redacted(octets)[-1:] == b"*"
    assert redacted(RESPONSE[:11]) == RESPONSE[:11]
    assert redacted(PING) == PING


def test_a_mechanism_is_shown_no_further_than_it_goes() -> None:
    name = b"MYSECRET"
    assert redacted(encode_frame(11, counted("shortstr", name, 2))).endswith(b"\x02MYSE****\xce")
    assert redacted(encode_frame(11, counted("shortstr", name, 8))).endswith(b"\x08MYSECRET\xce")
    assert redacted(encode_frame(11, counted("shortstr", b"MY secret", 9))).endswith(b"\x09MY*******\xce")


def test_a_mechanism_that_cannot_be_one_makes_a_response_doubtful() -> None:
    swallowed = encode_frame(11, counted("shortstr", b"PLAIN" + TABLE) + counted("table"))
    shown = shown_in(GREETING + swallowed, command_frame("handle.created", extra=b"hidden"))
    assert "hidden" not in shown and f"<redacted, {5 + len(TABLE)} characters>" in shown


def test_behind_a_doubtful_response_only_what_can_be_read_is_shown() -> None:
    doubtful = encode_frame(11, BODY + b"x")
    shown = shown_in(GREETING + doubtful + TUNE + command_frame("connection.ping", extra=b"open"), PING)
    assert "connection.tune" in shown and "open" in shown
    shown = shown_in(GREETING + doubtful, command_frame("handle.created", extra=b"hidden"), PING, TUNE)
    assert "hidden" not in shown and "unreadable frame, " in shown
    lost = shown_in(GREETING + doubtful + b"\x00\x04\x0eabcd", b"efgh")
    assert "abcd" not in lost and "efgh" not in lost and "framing lost" in lost


def test_what_is_no_response_is_shown_when_framing_is_lost_behind_a_good_one() -> None:
    shown = shown_in(GREETING + RESPONSE, b"\x00\x04\x0eabcd", b"efgh")
    assert "abcd" in shown and "efgh" in shown and "end octet 0x63" in shown


@given(commands(), st.binary(max_size=20))
def test_whatever_comes_is_described(drawn: tuple[Any, dict[str, Any], bytes], more: bytes) -> None:
    command, args, _ = drawn
    fits = {**args, "fragment_size": len(more)} if "fragment_size" in args else args
    frames = described_or_hidden(
        command_frame(command.name, fragment=more if fits is not args else b"", **fits)
    )
    assert frames[0]["text"].startswith(command.name)
    described_or_hidden(encode_frame(command.code, more) + more)


def described_or_hidden(octets: bytes) -> list[dict[str, Any]]:
    shown, frames = CommandDirection("in").take(octets)
    assert len(shown) == len(octets)
    json.dumps(frames)
    return frames


def test_frames_can_be_described_by_themselves() -> None:
    frame = CommandFrame(14, {"respond": True}, b"\x01")
    assert describe_frame(frame)["text"] == "connection.ping respond=True"
    assert (
        describe_frame(frame._replace(args={"respond": Raw(b"\x00\xff")}))["fields"]["respond"]["octets"] == 2
    )
