"""The fuzzer inside WebSocket, with TLS and without: the same states, and no claim of a clean broker."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.web import WebPipe
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import states
from amqpspec.reference.server import ReferenceBroker
from amqpspec.target.url import parse_url
from tests.certificates import Certificates
from tests.cli.verbs import amqpspec, error
from tests.fuzz.test_executor import PATIENT, item, results
from tests.net.http import read_request
from tests.net.server import drain, serving
from tests.net.websocket import agree, bridging
from tests.wire.test_websocket import agreed, unmasked

DIALECT = "amqp-1-0"


@pytest.mark.parametrize("secure", [False, True])
def test_every_state_is_reached(secure: bool, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path) if secure else None
    items = [item(name, b"\x00", dialect=DIALECT) for name in states(DIALECT)]
    with (
        ReferenceBroker(DIALECT) as broker,
        bridging(broker.port, certificates.server if certificates else None) as port,
    ):
        url = f"amqp+wss://localhost:{port}/?cacertfile={certificates.ca}" if certificates else ""
        address = Address.of(parse_url(url or f"amqp+ws://127.0.0.1:{port}/"))
        found = results(address, *items, tempo=PATIENT)
        with Client(address, DIALECT, Values(), 20.0) as client:
            client.enter("session")
    assert not [(o.item.state, o.why) for o in found if not o.reached] and len(found) == len(items)


def test_large_inputs_go_through(tmp_path: Path) -> None:
    empty = bytes.fromhex("0000000802000000")
    with ReferenceBroker(DIALECT) as broker, bridging(broker.port) as port:
        address = Address.of(parse_url(f"amqp+ws://127.0.0.1:{port}/"))
        (many,) = results(address, item("session", empty * 100_000, dialect=DIALECT), tempo=PATIENT)
    assert many.reached and many.refusal is None and many.sent_octets > 800_000


def test_a_server_that_is_no_websocket_reaches_no_state() -> None:
    def refuse(client: socket.socket) -> None:
        read_request(client)
        client.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")

    with serving(refuse, times=2) as port:
        address = Address("127.0.0.1", port, path="/")
        (found,) = results(address, item("raw", b"x", dialect=DIALECT))
        assert not found.reached and found.why == "fin while waiting for the stream"
        with pytest.raises(Unanswered, match="octet 0: HTTP 404, expected HTTP 101") as caught:
            Client(address, DIALECT, Values(), 5.0)
        assert not caught.value.silent


def test_silence_is_told_from_refusal() -> None:
    def mute(client: socket.socket) -> None:
        agree(client)
        drain(client)

    with serving(drain) as port, pytest.raises(Unanswered, match="no complete answer") as caught:
        Client(Address("127.0.0.1", port, path="/"), DIALECT, Values(), 0.3)
    assert caught.value.silent
    with (
        serving(mute) as port,
        Client(Address("127.0.0.1", port, path="/"), DIALECT, Values(), 5.0) as client,
    ):
        client.timeout_s = 0.3
        with pytest.raises(Unanswered, match=r"nothing in 0\.3 s") as caught:
            client.wait("open")
    assert caught.value.silent


def test_pings_are_answered_up_to_a_bound_and_a_close_is_the_end() -> None:
    pipe = WebPipe(agreed(), None)
    assert pipe.agreed
    pipe.out.clear()
    assert pipe.arrived(b"\x82\x02hi\x89\x01p") == (b"hi", False)
    assert unmasked(bytes(pipe.out)) == [(0x8A, b"p")]
    for _ in range(1000):
        pipe.arrived(b"\x89\x7d" + b"p" * 125)
    assert len(pipe.out) < 66_000
    assert pipe.arrived(b"\x82\x01x" + bytes.fromhex("880203e8")) == (b"x", True)
    assert WebPipe(agreed(), None).arrived(b"") == (b"", True)
    assert WebPipe(agreed(), None).arrived(b"\x81\x01x") == (b"", True)


def test_a_campaign_over_websocket_finds_nothing_in_a_clean_broker(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    with ReferenceBroker(DIALECT) as broker, bridging(broker.port) as port:
        url = f"amqp+ws://guest:guest@127.0.0.1:{port}/"
        amqpspec(
            "fuzz", url, "-d", DIALECT, "--cells", "C04/*/session", "--families-only", "--budget", "20s",
            "--connections", "16", "--quiet", "--out", out, code=0,
        )  # fmt: skip
    summary = json.loads((out / "summary.json").read_text())
    assert summary["inputs"] > 10


@pytest.mark.parametrize("url", ["amqps://h/", "amqp+ws://h/"])
def test_boofuzz_speaks_tcp_only(url: str, tmp_path: Path) -> None:
    line = error("fuzz", "export-boofuzz", url, "-d", DIALECT, code=2)
    assert line.endswith("expected amqp://, because the script speaks nothing else")
