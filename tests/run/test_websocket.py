"""The whole runner over WebSocket: the same verdicts as over TCP, evidence of AMQP alone, each failure one line."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.certificates import Certificates
from tests.cli.verbs import ROOT, amqpspec, document, error, outside
from tests.net.http import read_request
from tests.net.proxy import proxying
from tests.net.server import drain, serving
from tests.net.websocket import agree, bridging

PART = ("close.*", "sasl.plain*", "transfer.settled*", "transfers.large*", "connections.closing*")
"""Logins, messages larger than a frame, ends in both orders, and half an end."""
CASES = ("close.written", "sasl.plain*", "transfers.large.abort")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path, demanded=True)


def verdicts(folder: Path) -> dict[str, str]:
    return {case["id"]: case["verdict"] for case in document(folder)["cases"]}


def test_the_same_verdicts_as_over_tcp(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-1-0") as broker, bridging(broker.port) as port:
        for way, url in (("tcp", broker.url), ("ws", f"amqp+ws://guest:guest@127.0.0.1:{port}/any/path")):
            amqpspec("run", url, "-d", "amqp-1-0", *PART, "-q", "-o", tmp_path / way, code=0)
    tcp, ws = verdicts(tmp_path / "tcp"), verdicts(tmp_path / "ws")
    assert ws == tcp
    assert sum(verdict == "pass" for verdict in ws.values()) > 20
    assert document(tmp_path / "ws")["meta"]["target"]["url"] == f"amqp+ws://127.0.0.1:{port}/any/path"


def test_a_fault_is_found_and_blamed_as_over_tcp(tmp_path: Path) -> None:
    """What is wrong beyond the bridge is seen through it: a broker that ends without a close."""
    with (
        ReferenceBroker("amqp-1-0", faults=["errors-end-the-socket-bare"]) as broker,
        bridging(broker.port) as port,
    ):
        for way, url in (("tcp", broker.url), ("ws", f"amqp+ws://127.0.0.1:{port}/")):
            amqpspec(
                "run", url, "-d", "amqp-1-0", "close*", "connections.closing*", "-q", "-o", tmp_path / way
            )
    tcp, ws = document(tmp_path / "tcp")["cases"], document(tmp_path / "ws")["cases"]
    assert [(c["id"], c["verdict"]) for c in ws] == [(c["id"], c["verdict"]) for c in tcp]
    assert any(case["verdict"] == "fail" for case in ws)


def test_the_dialect_is_told_by_what_answers(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-1-0") as broker, bridging(broker.port) as port:
        amqpspec("run", f"amqp+ws://127.0.0.1:{port}/", "close.written", "-q", "-o", tmp_path / "run", code=0)
    assert document(tmp_path / "run")["meta"]["target"]["dialect"] == "amqp-1-0"


def test_evidence_is_of_amqp_and_is_replayed(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-1-0") as broker, bridging(broker.port) as port:
        url = f"amqp+ws://guest:guest@127.0.0.1:{port}/"
        amqpspec(
            "run", url, "-d", "amqp-1-0", "close.written", "--pcap", "-q", "-o", tmp_path / "run", code=0
        )
        evidence = tmp_path / "run" / "evidence" / "close.written.jsonl"
        replayed = amqpspec("replay", evidence, url, code=0).output
        assert "0 nodes" in amqpspec("clean", url, "-d", "amqp-1-0", code=0).output
    lines = [json.loads(line) for line in evidence.read_text().splitlines()]
    for way in ("in", "out"):
        octets = b"".join(bytes.fromhex(x["hex"]) for x in lines if x["kind"] == "octets" and x["dir"] == way)
        assert octets.startswith(b"AMQP\x03\x01\x00\x00")
        assert b"HTTP" not in octets and b"still there" not in octets
        texts = [f["text"] for x in lines if x["kind"] == "octets" and x["dir"] == way for f in x["frames"]]
        assert texts[0].startswith("protocol header AMQP") and texts[-1].startswith("close")
    assert evidence.with_suffix(".pcapng").stat().st_size > 500
    assert "close" in replayed


def test_over_tls_through_a_proxy_with_a_client_certificate(
    certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"cacertfile={certificates.ca}&certfile={certificates.client}"
    with (
        ReferenceBroker("amqp-1-0") as broker,
        bridging(broker.port, certificates.server) as port,
        proxying() as (proxy, requests),
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy}")
        url = f"amqp+wss://guest:guest@localhost:{port}/ws?{query}"
        amqpspec("run", url, *CASES, "-q", "-o", tmp_path / "led", code=0)
        led = len(requests)
        monkeypatch.setenv("NO_PROXY", "localhost")
        amqpspec("run", url, *CASES, "-q", "-o", tmp_path / "straight", code=0)
    assert led > 5 and len(requests) == led
    assert {request.splitlines()[0] for request in requests} == {f"CONNECT localhost:{port} HTTP/1.1"}
    assert verdicts(tmp_path / "led") == verdicts(tmp_path / "straight")


# --- what goes wrong


def saying(answer: bytes) -> Callable[[socket.socket], None]:
    def behave(client: socket.socket) -> None:
        read_request(client)
        client.sendall(answer)

    return behave


def texting(client: socket.socket) -> None:
    agree(client, behind=b"\x81\x05hello")
    drain(client)


def mute(client: socket.socket) -> None:
    agree(client)
    drain(client)


@pytest.mark.parametrize(
    ("behave", "said"),
    [
        (
            saying(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            "octet 0: HTTP 404, expected HTTP 101",
        ),
        (saying(b"HTTP/1.1 401 Unauthorized\r\n\r\n"), "octet 0: HTTP 401, expected HTTP 101"),
        (
            saying(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"),
            "octet 0: HTTP 302 to '/x', expected HTTP 101",
        ),
        (saying(b"AMQP\x00\x01\x00\x00"), "octet 0: no HTTP: b'AMQP"),
        (texting, "messages of server→client at octet 0: a text message, expected binary messages"),
    ],
)
def test_a_server_that_is_none_is_one_line_and_exit_code_3(
    behave: Callable[[socket.socket], None], said: str, tmp_path: Path
) -> None:
    with serving(behave, times=8) as port:
        url = f"amqp+ws://127.0.0.1:{port}/ws"
        line = _last("run", url, "-d", "amqp-1-0", "close.written", "-q", "-o", tmp_path / "run", code=3)
    assert said in line and f"127.0.0.1:{port}" in line


def _last(*args: str | Path, code: int) -> str:
    result = amqpspec(*args, code=code)
    line = result.stderr.splitlines()[-1]
    assert line.startswith("amqpspec: ") and "Traceback" not in result.output
    return line


def test_a_websocket_that_says_nothing_is_told(tmp_path: Path) -> None:
    with serving(mute, times=3) as port:
        url = f"amqp+ws://127.0.0.1:{port}/"
        line = _last(
            "run", url, "channel.open.twice", "--patience", "0.2", "-q", "-o", tmp_path / "run", code=3
        )
    assert "expected AMQP, actual: nothing within 0.6 s of a protocol header" in line


def test_a_proxy_that_refuses_is_one_line_and_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(saying(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), times=3) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://u:secret@127.0.0.1:{port}")
        url = "amqp+wss://broker.invalid/"
        line = _last("run", url, "-d", "amqp-1-0", "close.written", "-q", "-o", tmp_path / "run", code=3)
    where = f"cannot connect to broker.invalid:443 through the proxy 127.0.0.1:{port}"
    assert f"{where}: expected HTTP 200 to CONNECT, actual HTTP 407" in line
    assert "secret" not in line


def test_a_proxy_that_cannot_be_used_is_a_mistake_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    line = error("run", "amqp+wss://localhost/", "close.written", "-o", tmp_path / "run", code=2)
    assert line == "HTTPS_PROXY: expected http://HOST:PORT, actual scheme 'socks5'"


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    targets = tmp_path / "targets.yaml"
    targets.write_text("targets: {web: {url: 'amqp+ws://127.0.0.1:1/ws', dialect: amqp-1-0}}\n")
    missing = "import sys; sys.modules['wsproto'] = None; from amqpspec.cli.main import main; main()"
    for wanted in (["amqp+ws://127.0.0.1:1/ws"], ["-t", "web", "--targets", str(targets)]):
        done = outside([sys.executable, "-c", missing, "run", *wanted, "-o", str(tmp_path / "run")], cwd=ROOT)
        assert done.returncode == 2, done.stderr
        needed = "amqp+ws://127.0.0.1:1/ws: WebSocket needs wsproto: pip install 'amqpspec[ws]'"
        assert done.stderr == f"amqpspec: {needed}\n"
