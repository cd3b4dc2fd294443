"""A WebSocket's octets, written by hand from RFC 6455; whatever a server sends ends in octets or in one line."""

from __future__ import annotations

import re
import tracemalloc
from base64 import b64encode
from hashlib import sha1

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amqpspec.wire.websocket import MESSAGE_OCTETS, WebSocket

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_UPGRADE = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
_AMQP = b"Sec-WebSocket-Protocol: amqp\r\n"
_CLOSE = bytes.fromhex("880203e8")


def begun() -> tuple[WebSocket, bytes]:
    """A client, and the header that its key has to be answered with."""
    web = WebSocket("host:81", "/ws")
    key = re.search(rb"Sec-WebSocket-Key: (.*)\r\n", web.hello)
    assert key is not None
    accept = b64encode(sha1(key[1] + _GUID).digest())
    return web, b"Sec-WebSocket-Accept: " + accept + b"\r\n"


def agreed() -> WebSocket:
    web, accept = begun()
    assert web.take(_UPGRADE + accept + _AMQP + b"\r\n") == b""
    assert web.is_open
    return web


def unmasked(octets: bytes) -> list[tuple[int, bytes]]:
    """The frames of a client: first octet and payload of each."""
    frames = []
    while octets:
        assert octets[1] & 0x80
        length, at = octets[1] & 0x7F, 2
        if length == 126:
            length, at = int.from_bytes(octets[2:4]), 4
        mask, payload = octets[at : at + 4], octets[at + 4 : at + 4 + length]
        frames.append((octets[0], bytes(octet ^ mask[place % 4] for place, octet in enumerate(payload))))
        octets = octets[at + 4 + length :]
    return frames


# --- the handshake


def test_hello_asks_for_the_subprotocol() -> None:
    web, _ = begun()
    first, *headers = web.hello.decode().removesuffix("\r\n\r\n").split("\r\n")
    assert first == "GET /ws HTTP/1.1"
    told = dict(header.split(": ") for header in headers)
    assert len(told.pop("Sec-WebSocket-Key")) == 24
    assert told == {
        "Host": "host:81",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": "amqp",
    }


def test_an_answer_may_come_octet_by_octet_and_with_messages_behind_it() -> None:
    web, accept = begun()
    answer = _UPGRADE + accept + _AMQP + b"\r\n" + b"\x82\x02hi"
    assert b"".join(web.take(bytes([octet])) for octet in answer) == b"hi"
    whole, accept = begun()
    assert whole.take(_UPGRADE + accept + _AMQP + b"\r\n" + b"\x82\x02hi\x82\x01!") == b"hi!"


@pytest.mark.parametrize(
    ("answer", "actual"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "HTTP 404"),
        (b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\n\r\n", "HTTP 401"),
        (b"HTTP/1.0 200 OK\r\n\r\n<html>", "HTTP 200"),
        (b"HTTP/1.1 301 Moved\r\nLocation: x\x9b\x07y\r\n\r\n", r"HTTP 301 to 'x\\x9b\\x07y'"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\n\r\n",
            "HTTP 302 to 'https://elsewhere/'",
        ),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP 103"),
        (b"AMQP\x00\x01\x00\x00", r"no HTTP: b'AMQP\\x00\\x01\\x00\\x00'"),
        (b"HTTP/garbage\r\n\r\n", "Bad HTTP message"),
        (b"HTTP/1.1 101 Switching Protocols\r\nX: " + b"x" * 20_000, "Bad HTTP message"),
        (_UPGRADE + _AMQP + b"\r\n", "Bad accept token"),
        (_UPGRADE + b"Sec-WebSocket-Accept: c3VyZWx5IG5vdA==\r\n" + _AMQP + b"\r\n", "Bad accept token"),
        (b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n", "Upgrade: websocket"),
        (b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n", "Connection: Upgrade"),
        (_UPGRADE + b"ACCEPT\r\n", "HTTP 101 without subprotocol"),
        (_UPGRADE + b"ACCEPTSec-WebSocket-Protocol: mqtt\r\n\r\n", "unrecognized subprotocol mqtt"),
        (_UPGRADE + b"ACCEPTSec-WebSocket-Protocol: \xff\xfe\r\n\r\n", "can't decode"),
        (
            _UPGRADE + b"ACCEPT" + _AMQP + b"Sec-WebSocket-Extensions: zip\r\n\r\n",
            "unrecognized extension zip",
        ),
    ],
)
def test_another_answer_is_one_line(answer: bytes, actual: str) -> None:
    web, accept = begun()
    assert web.take(answer.replace(b"ACCEPT", accept)) == b""
    said = str(web.error)
    assert re.search(actual, said)
    assert said.startswith("handshake of server→client at octet 0: ")
    assert said.endswith(", expected HTTP 101 with subprotocol amqp")
    assert said.isprintable()
    assert not web.is_open
    assert web.take(b"\x82\x01x") == web.pack(b"x") == web.bye() == b""


def test_what_does_not_come_is_one_line() -> None:
    web, _ = begun()
    assert "octet 0: silence, expected HTTP 101" in str(web.unanswered("silence"))
    web.take(b"HTTP/1.1 101")
    assert "octet 0: silence behind b'HTTP/1.1 101', expected" in str(web.unanswered("silence"))


# --- messages


@pytest.mark.parametrize(
    ("frames", "plain"),
    [
        (b"\x82\x03abc", b"abc"),
        (b"\x82\x00", b""),
        (b"\x02\x01a\x00\x01b\x00\x00\x80\x01c", b"abc"),
        (b"\x02\x01a\x89\x02hi\x80\x01b\x8a\x00\x82\x01c", b"abc"),
        (b"\x82\x7e\x00\x7e" + b"x" * 126, b"x" * 126),
        (b"\x82\x7f" + (65536).to_bytes(8) + b"y" * 65536, b"y" * 65536),
    ],
)
def test_messages_are_a_stream(frames: bytes, plain: bytes) -> None:
    assert agreed().take(frames) == plain
    web = agreed()
    assert b"".join(web.take(bytes([octet])) for octet in frames) == plain
    assert web.error is None


def test_octets_go_out_as_masked_messages_that_servers_take() -> None:
    web, octets = agreed(), bytes(range(256)) * (2 * MESSAGE_OCTETS // 256) + b"rest"
    first, second = web.pack(octets), web.pack(octets)
    assert first != second
    frames = unmasked(first)
    assert [(kind, len(payload)) for kind, payload in frames] == [
        (0x82, MESSAGE_OCTETS),
        (0x82, MESSAGE_OCTETS),
        (0x82, 4),
    ]
    assert b"".join(payload for _, payload in frames) == octets
    assert web.pack(b"") == b""


def test_the_latest_ping_is_answered() -> None:
    web = agreed()
    assert web.take(b"\x89\x02hi\x89\x05there") == b""
    assert unmasked(web.pong) == [(0x8A, b"there")]


def test_no_length_asks_for_memory() -> None:
    """A message of 2⁶² octets, and one of fragments without end, are handed on as they come."""
    web, piece = agreed(), b"x" * 65_536
    assert web.take(b"\x02\x7f" + (1 << 62).to_bytes(8)) == b""
    tracemalloc.start()
    try:
        assert all(web.take(piece) == piece for _ in range(100))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    fragments = agreed()
    assert fragments.take(b"\x02\x00") == b""
    assert all(fragments.take(b"\x00\x00" * 1000) == b"" for _ in range(10))
    assert fragments.take(b"\x80\x01z") == b"z"


@pytest.mark.parametrize(
    ("frames", "actual"),
    [
        (b"\x81\x02hi", "a text message, expected binary messages"),
        (b"\x01\x02hi", "a text message, expected binary messages"),
        (b"\x81\x02h\xff", "a text message, expected binary messages"),
        (b"\x82\x83....abc", "masked frame"),
        (b"\xc2\x01x", "Reserved bit"),
        (b"\x83\x01x", "opcode 0x3"),
        (b"\x89\x7e\x00\x7e" + b"x" * 126, "Control frame with payload len > 125"),
        (b"\x09\x00", "fragment control frame"),
        (b"\x80\x01x", "unexpected CONTINUATION"),
        (b"\x02\x01x\x82\x01y", "expected CONTINUATION"),
        (b"\x82\x7e\x00\x01x", "Payload length used 2 bytes"),
        (b"\x82\x7f" + (1).to_bytes(8) + b"x", "Payload length used 8 bytes"),
        (b"\x82\x7f" + b"\xff" * 8, "non-zero MSB"),
        (b"\x88\x01x", "CLOSE with 1 byte payload"),
        (b"\x88\x02\x00\x01", "CLOSE with invalid code"),
        (b"\x88\x03\x03\xe8\xff", "Error decoding CLOSE reason"),
    ],
)
def test_what_breaks_the_rules_is_one_line_behind_what_came_before(frames: bytes, actual: str) -> None:
    web = agreed()
    before = web.take(b"\x82\x05first\x82\x02go" + frames)
    said = str(web.error)
    assert before[:7] == b"firstgo"
    assert said.startswith(f"messages of server→client at octet {len(before)}: ")
    assert actual in said
    assert not web.is_over
    assert web.take(b"\x82\x01x") == b""


def test_a_close_is_answered_once_and_ends_the_stream() -> None:
    web = agreed()
    assert web.take(b"\x82\x04last" + _CLOSE + b"\x82\x04more") == b"last"
    assert web.is_over
    assert web.error is None
    assert web.pack(b"too late") == b""
    assert unmasked(web.bye()) == [(0x88, b"\x03\xe8")]
    assert web.bye() == web.take(b"\x82\x01x") == b""


def test_a_close_about_text_is_a_close() -> None:
    web = agreed()
    assert web.take(b"\x88\x03\x03\xefx") == b""
    assert web.is_over and web.error is None


def test_our_close_is_answered() -> None:
    web = agreed()
    assert unmasked(web.bye()) == [(0x88, b"\x03\xe8")]
    assert web.take(b"\x82\x04last\x89\x00" + _CLOSE) == b"last"
    assert web.pong == web.bye() == b""
    assert web.is_over


@given(st.lists(st.binary(max_size=80), max_size=8))
@example([b"\x01\x02\x00", b"\x80"])
def test_whatever_comes_behind_the_handshake_is_octets_an_end_or_an_error(chunks: list[bytes]) -> None:
    whole, pieces = agreed(), agreed()
    plain = whole.take(b"".join(chunks))
    assert b"".join(pieces.take(chunk) for chunk in chunks) == plain
    assert (pieces.is_over, str(pieces.error)) == (whole.is_over, str(whole.error))


@given(st.binary(max_size=200))
def test_whatever_answers_the_handshake_is_no_exception(answer: bytes) -> None:
    for octets in (answer, b"HTTP/1.1 " + answer, b"HTTP/1.1 101 X\r\n" + answer + b"\r\n\r\n"):
        web, _ = begun()
        assert web.take(octets) == b""
        assert not web.is_open
