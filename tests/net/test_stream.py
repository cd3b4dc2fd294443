"""How a stream ended is measured, and what came before its end is never lost; real sockets on loopback."""

from __future__ import annotations

import random
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import trustme

from amqpspec.net import stream as module
from amqpspec.net.ports import free_port, free_ports, is_listening
from amqpspec.net.stream import ConnectError, Endpoint, Stream
from amqpspec.wire.transport import StreamEnd
from tests.net.server import GUARD_S, Behave, drain, read_all, reset, serving


@contextmanager
def stream(behave: Behave) -> Iterator[Stream]:
    with serving(behave) as port, closing(Stream(Endpoint("127.0.0.1", port))) as made:
        yield made


def silent(done: threading.Event) -> Behave:
    """Neither reads nor writes until it is released."""

    def behave(client: socket.socket) -> None:
        done.wait(GUARD_S)

    return behave


def test_an_orderly_end_is_fin() -> None:
    with stream(lambda client: client.sendall(b"bye")) as made:
        assert read_all(made) == (b"bye", StreamEnd.FIN)
        assert read_all(made) == (b"", StreamEnd.FIN)


def test_a_reset_is_rst() -> None:
    def behave(client: socket.socket) -> None:
        client.recv(1)
        reset(client)

    with stream(behave) as made:
        made.send(b"x")
        assert read_all(made) == (b"", StreamEnd.RST)


def test_octets_before_a_reset_are_handed_out_first() -> None:
    """The target closes with our octets unread, so that its close method is followed by RST while we still write."""
    sent = threading.Event()

    def behave(client: socket.socket) -> None:
        sent.wait(GUARD_S)
        client.sendall(b"close method")
        client.recv(1)
        reset(client)

    with stream(behave) as made:
        made.send(b"x" * 100)
        sent.set()
        first = made.receive(made.now() + GUARD_S)
        rest, how = read_all(made)
        assert (first + rest, how) == (b"close method", StreamEnd.RST)


def test_what_arrived_while_writing_survives_a_reset_during_the_write() -> None:
    def behave(client: socket.socket) -> None:
        client.sendall(b"close method")
        client.recv(1 << 20)
        reset(client)

    with stream(behave) as made:
        assert not made.send(b"x" * (64 << 20))
        assert read_all(made) == (b"close method", StreamEnd.RST)


def test_after_our_half_close_the_target_can_still_be_read() -> None:
    def behave(client: socket.socket) -> None:
        client.sendall(b"got %d" % len(drain(client)))

    with stream(behave) as made:
        assert made.send(b"12345")
        made.half_close()
        assert not made.send(b"more")
        assert read_all(made) == (b"got 5", StreamEnd.FIN)


def test_the_last_octets_and_the_end_arrive_together() -> None:
    def behave(client: socket.socket) -> None:
        poller = select.poll()
        poller.register(client, select.POLLIN | select.POLLRDHUP)
        ((_, events),) = poller.poll(5000)
        client.sendall(b"together" if events & select.POLLRDHUP else b"apart")
        client.sendall(b", got %d" % len(drain(client)))

    with stream(behave) as made:
        made.half_close(b"12345")
        assert not made.send(b"more")
        assert read_all(made) == (b"together, got 5", StreamEnd.FIN)


def test_a_target_that_shuts_its_side_can_still_be_written_to() -> None:
    heard: list[bytes] = []

    def behave(client: socket.socket) -> None:
        client.shutdown(socket.SHUT_WR)
        heard.append(drain(client))

    with stream(behave) as made:
        assert read_all(made) == (b"", StreamEnd.FIN)
        assert made.send(b"still here")
    assert heard == [b"still here"]


def test_silence_is_an_empty_answer() -> None:
    done = threading.Event()
    with stream(silent(done)) as made:
        assert made.receive(made.now() + 0.01) == b""
        assert made.receive(0.0) == b""
        done.set()


def test_a_target_that_never_reads_does_not_hold_us_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SEND_PATIENCE_S", 0.2)
    done = threading.Event()
    with stream(silent(done)) as made:
        assert not made.send(b"x" * (64 << 20))
        done.set()


def test_what_floods_us_while_we_write_is_read_meanwhile() -> None:
    """Both sides write 8 MiB before they read: only one that reads while writing comes through."""
    heard: list[int] = []
    size = 8 << 20

    def behave(client: socket.socket) -> None:
        client.sendall(b"y" * size)
        heard.append(len(drain(client)))

    with stream(behave) as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BACKLOG_OCTETS", 4 * size)
        assert made.send(b"x" * size)
        made.half_close()
        octets, how = read_all(made)
    assert (len(octets), how, heard) == (size, StreamEnd.FIN, [size])


def test_a_flood_is_kept_up_to_a_bound_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SEND_PATIENCE_S", 0.5)
    monkeypatch.setattr(module, "_BACKLOG_OCTETS", 1 << 20)

    def behave(client: socket.socket) -> None:
        while True:
            client.sendall(b"y" * 65536)

    with stream(behave) as made:
        assert not made.send(b"x" * (64 << 20))
        assert made._arrived_octets <= (1 << 20) + module.READ_OCTETS
        assert made.receive(0.0)


def test_closing_twice_is_allowed() -> None:
    with stream(lambda client: None) as made:
        made.close()
        made.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "no..host", "name.invalid"])
def test_what_cannot_be_reached_is_one_line(host: str) -> None:
    port = free_port()
    with pytest.raises(ConnectError) as caught:
        Stream(Endpoint(host, port))
    assert str(caught.value).startswith(f"cannot connect to {host}:{port}: ")
    assert "\n" not in str(caught.value)


def test_ports() -> None:
    first, second = free_ports(2)
    assert first != second
    assert not is_listening("127.0.0.1", first)
    with serving(lambda client: None) as port:
        assert is_listening("127.0.0.1", port)


def test_processes_that_seed_their_random_numbers_alike_get_different_ports() -> None:
    """Hypothesis seeds them in each of its tests: brokers that restarted at the same time had chosen the same ports."""
    found = []
    for _ in range(2):
        random.seed(0)
        found.append(free_ports(4))
    assert found[0] != found[1]


@pytest.mark.usefixtures("ipv6")
def test_ipv6() -> None:
    with (
        serving(lambda client: client.sendall(b"six"), host="::1") as port,
        closing(Stream(Endpoint("::1", port))) as made,
    ):
        assert made.remote == ("::1", port)
        assert read_all(made) == (b"six", StreamEnd.FIN)


# --- TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_side(authority: trustme.CA, clients: trustme.CA | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    if clients is not None:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_side(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def shout(client: socket.socket) -> None:
    client.sendall(client.recv(100).upper())


def test_tls_with_an_authority_of_our_own(authority: trustme.CA) -> None:
    with serving(shout, server_side(authority)) as port:
        endpoint = Endpoint("127.0.0.1", port, client_side(authority), "localhost")
        with closing(Stream(endpoint)) as made:
            assert made.send(b"hello")
            assert read_all(made) == (b"HELLO", StreamEnd.FIN)


def test_tls_carries_large_data_both_ways_at_once(authority: trustme.CA) -> None:
    size = 4 << 20

    def behave(client: socket.socket) -> None:
        got = 0
        while got < size:
            chunk = client.recv(65536)
            client.sendall(chunk)
            got += len(chunk)

    with (
        serving(behave, server_side(authority)) as port,
        closing(Stream(Endpoint("127.0.0.1", port, client_side(authority)))) as made,
    ):
        assert made.send(b"z" * size)
        octets, how = read_all(made)
    assert (octets, how) == (b"z" * size, StreamEnd.FIN)


def test_tls_with_a_client_certificate(authority: trustme.CA, tmp_path: Path) -> None:
    known = authority.issue_cert("ann@example.org", common_name="ann")
    names: list[object] = []

    def behave(client: socket.socket) -> None:
        assert isinstance(client, ssl.SSLSocket)
        names.append(client.getpeercert())
        client.sendall(b"in")

    with serving(behave, server_side(authority, authority)) as port:
        context = client_side(authority)
        known.configure_cert(context)
        with closing(Stream(Endpoint("127.0.0.1", port, context))) as made:
            assert read_all(made) == (b"in", StreamEnd.FIN)
    assert "ann" in str(names)


def test_tls_without_the_client_certificate_is_refused(authority: trustme.CA) -> None:
    """With TLS 1.3 the refusal comes after our side of the handshake; either way there is nothing but an end."""
    with serving(shout, server_side(authority, authority)) as port:
        try:
            made = Stream(Endpoint("127.0.0.1", port, client_side(authority)))
        except ConnectError as error:
            assert "TLS with" in str(error)
            return
        with closing(made):
            octets, _ = read_all(made)
            assert octets == b""


def test_another_authority_is_not_trusted(authority: trustme.CA) -> None:
    with (
        serving(shout, server_side(authority)) as port,
        pytest.raises(ConnectError, match="certificate verify failed") as caught,
    ):
        Stream(Endpoint("127.0.0.1", port, client_side(trustme.CA())))
    assert str(caught.value).startswith(f"TLS with 127.0.0.1:{port} failed: ")
    assert "\n" not in str(caught.value)


def test_a_certificate_for_another_name_is_not_trusted(authority: trustme.CA) -> None:
    with (
        serving(shout, server_side(authority)) as port,
        pytest.raises(ConnectError, match=r"certificate is not valid for 'other\.example'"),
    ):
        Stream(Endpoint("127.0.0.1", port, client_side(authority), "other.example"))


def test_a_target_without_tls_is_one_line(authority: trustme.CA) -> None:
    with (
        serving(lambda client: client.sendall(b"AMQP\x00\x00\x09\x01" * 4)) as port,
        pytest.raises(ConnectError, match=r"TLS with .* failed"),
    ):
        Stream(Endpoint("127.0.0.1", port, client_side(authority)))
