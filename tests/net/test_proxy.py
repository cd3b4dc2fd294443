"""The way through a proxy; one that does not lead on is reported in one line."""

from __future__ import annotations

import socket
import ssl
from base64 import b64encode
from contextlib import closing

import pytest
import trustme

from amqpspec.net.dial import dial
from amqpspec.net.ports import free_port
from amqpspec.net.proxy import Proxy
from amqpspec.net.stream import ConnectError, Endpoint, Stream
from tests.net.http import answering, read_request, resetting
from tests.net.proxy import proxying
from tests.net.server import GUARD_S, Behave, drain, serving
from tests.net.websocket import bridging


def test_a_stream_through_a_proxy() -> None:
    with serving(lambda client: client.sendall(client.recv(9).upper())) as port, proxying() as (at, requests):
        proxy = Proxy("127.0.0.1", at, "ann:s3cret")
        with closing(Stream(Endpoint("localhost", port, proxy=proxy))) as made:
            assert made.send(b"hello")
            assert made.receive(made.now() + GUARD_S) == b"HELLO"
    first, *headers = requests[0].splitlines()
    assert first == f"CONNECT localhost:{port} HTTP/1.1"
    assert {header.lower() for header in headers if header} == {
        f"host: localhost:{port}",
        f"proxy-authorization: basic {b64encode(b'ann:s3cret').decode()}".lower(),
    }
    assert "s3cret" not in repr(proxy)


def test_tls_and_websocket_begin_behind_the_proxy() -> None:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    with (
        serving(lambda on: on.sendall(on.recv(9).upper())) as broker,
        bridging(broker, server) as port,
        proxying() as (at, requests),
    ):
        endpoint = Endpoint("localhost", port, client, websocket="/", proxy=Proxy("127.0.0.1", at))
        with closing(dial(endpoint)) as made:
            assert made.send(b"hello")
            assert made.receive(made.now() + GUARD_S) + made.receive(made.now() + GUARD_S) == b"HELLO"
    assert requests[0].startswith(f"CONNECT localhost:{port} ")
    assert "Authorization" not in requests[0]


def flooding(client: socket.socket) -> None:
    read_request(client)
    client.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        client.sendall(b"X: y\r\n")


def informing(client: socket.socket) -> None:
    read_request(client)
    while True:
        client.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")


@pytest.mark.parametrize(
    ("behave", "actual"),
    [
        (answering(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), "HTTP 407"),
        (answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), "HTTP 403"),
        (answering(b"SSH-2.0-OpenSSH\r\n\r\n"), r"no HTTP: b'SSH-2.0-OpenSSH\r\n\r\n'"),
        (answering(b"\x00\x01"), r"no HTTP: b'\x00\x01'"),
        (answering(b"HTTP/1.1"), "the end of the connection behind b'HTTP/1.1'"),
        (answering(b""), "the end of the connection"),
        (answering(b"HTTP/1.1 200 OK\r\n\r\nAMQP"), "octets behind it: b'AMQP'"),
        (flooding, r"no HTTP: b'HTTP/1.1 200 OK\r\n"),
        (informing, "no complete answer within 0.5 s"),
        (drain, "no complete answer within 0.5 s"),
    ],
)
def test_a_proxy_that_does_not_lead_on_is_one_line(behave: Behave, actual: str) -> None:
    patience_s = 0.5 if behave in (informing, drain) else GUARD_S
    with serving(behave) as at, pytest.raises(ConnectError) as caught:
        Stream(Endpoint("host.invalid", 443, proxy=Proxy("127.0.0.1", at)), patience_s)
    said = str(caught.value)
    assert said.startswith(
        f"cannot connect to host.invalid:443 through the proxy 127.0.0.1:{at}: "
        f"expected HTTP 200 to CONNECT, actual {actual}"
    )
    assert said.isprintable()


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("a b", "a host that HTTP cannot name: 'a b:443'"),
        ("b\u00fccher..de", "idna"),
        ("x" * 70, "label too long"),
    ],
)
def test_a_host_that_cannot_be_named_is_one_line(host: str, said: str) -> None:
    with serving(drain) as at, pytest.raises(ConnectError) as caught:
        Stream(Endpoint(host, 443, proxy=Proxy("127.0.0.1", at)))
    assert said in str(caught.value) and str(caught.value).isprintable()


def test_the_name_of_a_host_is_written_for_the_network() -> None:
    requests: list[bytes] = []

    def behave(client: socket.socket) -> None:
        requests.append(read_request(client))

    with serving(behave) as at, pytest.raises(ConnectError):
        Stream(Endpoint("b\u00fccher.invalid", 443, proxy=Proxy("127.0.0.1", at)))
    assert requests[0].startswith(b"CONNECT xn--bcher-kva.invalid:443 HTTP/1.1\r\n")


def test_a_proxy_that_is_not_there_is_one_line() -> None:
    nobody = free_port()
    with serving(resetting) as at:
        for port, why in ((nobody, "Connection refused"), (at, "Connection reset by peer")):
            with pytest.raises(ConnectError) as caught:
                Stream(Endpoint("::1", 443, proxy=Proxy("127.0.0.1", port)))
            where = f"cannot connect to [::1]:443 through the proxy 127.0.0.1:{port}"
            assert str(caught.value) == f"{where}: {why}"
