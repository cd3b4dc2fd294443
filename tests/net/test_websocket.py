"""A stream inside a WebSocket, against servers that keep the rules and others; real sockets on loopback."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import trustme

from amqpspec.net import stream as below
from amqpspec.net.dial import dial
from amqpspec.net.stream import ConnectError, Endpoint, Stream
from amqpspec.net.websocket import WebSocketStream
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnd
from tests.net.http import answering, read_request, resetting
from tests.net.server import GUARD_S, Behave, drain, read_all, reset, serving
from tests.net.websocket import CLOSE, agree, bridging


@contextmanager
def stream(behave: Behave) -> Iterator[WebSocketStream]:
    """A client of a server that agrees and then behaves so."""

    def agreeing(client: socket.socket) -> None:
        agree(client)
        behave(client)

    with serving(agreeing) as port, closing(dial(Endpoint("127.0.0.1", port, websocket="/"))) as made:
        assert isinstance(made, WebSocketStream)
        yield made


def payload_of(frame: bytes) -> bytes:
    """What a short frame of a client holds."""
    mask = frame[2:6]
    return bytes(octet ^ mask[place % 4] for place, octet in enumerate(frame[6:]))


def test_without_a_path_there_is_no_websocket() -> None:
    with (
        serving(lambda client: client.sendall(b"plain")) as port,
        closing(dial(Endpoint("127.0.0.1", port))) as made,
    ):
        assert isinstance(made, Stream)
        assert read_all(made) == (b"plain", StreamEnd.FIN)


def test_octets_both_ways_and_a_close() -> None:
    heard: list[bytes] = []

    def behave(client: socket.socket) -> None:
        heard.append(payload_of(client.recv(100)))
        client.sendall(b"\x82\x05hello\x82\x00" + CLOSE)
        heard.append(drain(client))

    with stream(behave) as made:
        assert made.send(b"ask")
        assert made.remote[0] == "127.0.0.1"
        assert read_all(made) == (b"hello", StreamEnd.FIN)
        assert read_all(made) == (b"", StreamEnd.FIN)
        assert not made.send(b"too late")
    assert heard[0] == b"ask"
    assert [heard[1][0], payload_of(heard[1])] == [0x88, b"\x03\xe8"]


def test_the_request_has_path_and_host() -> None:
    requests: list[bytes] = []

    def behave(client: socket.socket) -> None:
        requests.append(agree(client))

    with serving(behave) as port, closing(dial(Endpoint("127.0.0.1", port, websocket="/amqp/ws"))):
        pass
    assert requests[0].startswith(b"GET /amqp/ws HTTP/1.1\r\n")
    assert f"\r\nHost: 127.0.0.1:{port}\r\n".encode() in requests[0]


def test_a_ping_is_answered_while_we_wait() -> None:
    def echo(client: socket.socket) -> None:
        answer = client.recv(100)
        client.sendall(b"\x82\x02" + payload_of(answer) if answer[0] == 0x8A else b"")

    def at_once(client: socket.socket) -> None:
        agree(client, behind=b"\x89\x02hi")
        echo(client)
        client.sendall(b"\x89\x02ho")
        echo(client)

    with serving(at_once) as port, closing(dial(Endpoint("127.0.0.1", port, websocket="/"))) as made:
        assert read_all(made) == (b"hiho", StreamEnd.FIN)


@pytest.mark.parametrize("endless", [b"\x89\x7d" + b"p" * 125, b"\x00\x00", b"\x8a\x00"])
def test_a_flood_without_octets_is_silence(endless: bytes) -> None:
    """Pings whose answers no one reads, fragments of nothing, pongs: neither holds us up nor fills the memory."""
    done = threading.Event()

    def behave(client: socket.socket) -> None:
        client.sendall(b"\x02\x00")
        client.setblocking(False)
        rest = b""
        while not done.is_set():
            rest = rest or endless * (65_000 // len(endless))
            try:
                rest = rest[client.send(rest) :]
            except BlockingIOError:
                done.wait(0.001)

    with stream(behave) as made:
        for _ in range(5):
            assert made.receive(made.now() + 0.1) == b""
        assert len(made._owed) <= 131
        done.set()


def test_a_message_of_text_is_told_behind_what_came_before() -> None:
    with stream(lambda client: client.sendall(b"\x82\x03abc\x81\x02hi")) as made:
        assert made.receive(made.now() + GUARD_S) == b"abc"
        for _ in range(2):
            with pytest.raises(WireError, match="at octet 3: a text message, expected binary messages"):
                made.receive(made.now() + GUARD_S)


def test_how_the_stream_below_ended_is_told_where_there_was_no_close() -> None:
    def resetting(client: socket.socket) -> None:
        client.recv(1)
        reset(client)

    with stream(lambda client: client.sendall(b"\x82\x03abc")) as made:
        assert read_all(made) == (b"abc", StreamEnd.FIN)
    with stream(resetting) as made:
        made.send(b"x")
        assert read_all(made) == (b"", StreamEnd.RST)


def test_our_close_is_said() -> None:
    heard: list[bytes] = []
    with stream(lambda client: heard.append(drain(client))) as made:
        made.close()
        made.close()
    assert [heard[0][0], payload_of(heard[0])] == [0x88, b"\x03\xe8"]


def test_half_an_end_is_the_one_below_and_the_target_can_still_be_read() -> None:
    heard: list[bytes] = []

    def behave(client: socket.socket) -> None:
        heard.append(payload_of(drain(client)))
        client.sendall(b"\x82\x04last")

    with stream(behave) as made:
        made.half_close(b"go")
        assert not made.send(b"more")
        assert read_all(made) == (b"last", StreamEnd.FIN)
    assert heard == [b"go"]


def test_a_target_that_takes_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "_SEND_PATIENCE_S", 0.3)
    done = threading.Event()

    def behave(client: socket.socket) -> None:
        done.wait(GUARD_S)

    with stream(behave) as made:
        assert not made.send(b"x" * (64 << 20))
        assert not made.send(b"x")
        made.half_close(b"x")
        done.set()


def test_much_both_ways_at_once_through_the_bridge() -> None:
    size = 4 << 20

    def echo(client: socket.socket) -> None:
        got = 0
        while got < size:
            chunk = client.recv(65_536)
            client.sendall(chunk)
            got += len(chunk)

    octets = bytes(range(256)) * (size // 256)
    with (
        serving(echo) as broker,
        bridging(broker) as port,
        closing(dial(Endpoint("127.0.0.1", port, websocket="/"))) as made,
    ):
        assert made.send(octets)
        assert read_all(made) == (octets, StreamEnd.FIN)


def test_tls_below() -> None:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    with serving(lambda on: on.sendall(on.recv(100).upper())) as broker, bridging(broker, server) as port:
        endpoint = Endpoint("127.0.0.1", port, client, "localhost", "/")
        with closing(dial(endpoint)) as made:
            assert made.send(b"hello")
            assert read_all(made) == (b"HELLO", StreamEnd.FIN)


# --- the handshake


def dripping(client: socket.socket) -> None:
    """One header after another, without end."""
    read_request(client)
    client.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
    while True:
        client.sendall(b"X: y\r\n")


@pytest.mark.parametrize(
    ("behave", "actual"),
    [
        (answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found"), "HTTP 404"),
        (answering(b"AMQP\x00\x01\x00\x00"), r"no HTTP: b'AMQP\x00\x01\x00\x00'"),
        (answering(b""), "the end of the connection"),
        (answering(b"HTTP/1.1 101"), "the end of the connection behind b'HTTP/1.1 101'"),
        (resetting, "the end of the connection"),
        (drain, "no complete answer within 0.5 s"),
        (dripping, "Bad HTTP message"),
        (lambda client: agree(client, subprotocol=b"mqtt"), "unrecognized subprotocol mqtt"),
    ],
)
def test_a_handshake_that_fails_is_one_line(behave: Behave, actual: str) -> None:
    with serving(behave) as port, pytest.raises(ConnectError) as caught:
        dial(Endpoint("127.0.0.1", port, websocket="/ws"), 0.5 if behave is drain else GUARD_S)
    said = str(caught.value)
    assert said.startswith(f"WebSocket with 127.0.0.1:{port}/ws failed: handshake of server→client at octet ")
    assert f": {actual}, expected HTTP 101 with subprotocol amqp" in said
    assert said.isprintable()


def test_a_host_whose_name_is_too_long_for_http_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """63 octets are a name, and no longer one with a port after it."""
    straight = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda at, *more: straight(("127.0.0.1", at[1]), *more))
    with serving(drain) as port, pytest.raises(ConnectError, match="label too long"):
        dial(Endpoint("h" * 63, port, websocket="/"))


def test_a_header_that_drips_ends_with_the_time() -> None:
    done = threading.Event()

    def behave(client: socket.socket) -> None:
        read_request(client)
        for octet in b"HTTP/1.1 101 Switching Protocols\r\nX: " + b"y" * 1000:
            if done.wait(0.01):
                return
            client.sendall(struct.pack("B", octet))

    with serving(behave) as port:
        with pytest.raises(ConnectError, match=r"no complete answer within 0\.3 s"):
            dial(Endpoint("127.0.0.1", port, websocket="/"), 0.3)
        done.set()


def test_what_comes_with_the_agreement_is_kept() -> None:
    def behave(client: socket.socket) -> None:
        agree(client, behind=b"\x82\x03now\x81\x01x")

    with serving(behave) as port, closing(dial(Endpoint("127.0.0.1", port, websocket="/"))) as made:
        assert made.receive(made.now() + GUARD_S) == b"now"
        with pytest.raises(WireError):
            made.receive(made.now() + GUARD_S)
