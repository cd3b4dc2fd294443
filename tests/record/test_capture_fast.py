"""AMQP/Fast as a capture: Wireshark has no dissector of it and shows plain TCP; the scapy layers read all of it."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from amqpspec.record.capture import write_capture
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.capture import AMQP_PORT, PLAIN_PORT
from amqpspec.wire.layers import layers_of, raw
from tests.cli.verbs import amqpspec
from tests.tools import needs_tshark
from tests.waiting import PATIENCE_S

CASES = (
    "handle.consume.dynamic",
    "messages.fragments.large",
    "restartable.download",
    "messages.fragments.interleaved",
)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fast") / "run"
    amqpspec("run", "reference:amqp-fast-0-8", *CASES, "--out", folder, code=0)
    return folder / "evidence"


def captured(evidence: Path, case: str, folder: Path) -> Path:
    path = folder / "a.pcapng"
    amqpspec("replay", evidence / f"{case}.jsonl", "--pcap", path, code=0)
    return path


def streams(path: Path) -> dict[tuple[int, int], bytes]:
    """What was sent from port to port, by scapy's own reader."""
    from scapy.layers.inet import TCP
    from scapy.utils import rdpcap

    found: dict[tuple[int, int], bytes] = defaultdict(bytes)
    for packet in rdpcap(str(path)):
        found[packet[TCP].sport, packet[TCP].dport] += bytes(packet[TCP].payload)
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_layers_read_a_capture_from_end_to_end(case: str, evidence: Path, tmp_path: Path) -> None:
    layers: Any = layers_of("amqp-fast-0-8")
    heard: list[str] = []
    for (_, target), octets in streams(captured(evidence, case, tmp_path)).items():
        stream = layers.stream(octets)
        greeting = [layers.protocol_header] if target == PLAIN_PORT else []
        assert [type(item) for item in stream.frames] == greeting + [layers.frame] * (
            len(stream.frames) - len(greeting)
        )
        frames = stream.frames[len(greeting) :]
        # The login is starred in evidence, and no table.
        heard += [DIALECT.commands_by_code[f.code].name for f in frames if type(f.body) is not raw()]
        stream.clear_cache()
        assert bytes(stream) == octets
    assert {"connection.challenge", "connection.open", "connection.close"} < set(heard)
    assert {"handle.send", "handle.notify"} & set(heard)


@needs_tshark
def test_wireshark_shows_plain_tcp(evidence: Path, tmp_path: Path) -> None:
    path = captured(evidence, "handle.consume.dynamic", tmp_path)
    # The client's port is the system's choice, and some have a dissector of another protocol.
    (client,) = {source for source, _ in streams(path)} - {PLAIN_PORT}
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-e", "frame.protocols", "-Y", "tcp.len > 0"]
    command += ["-d", f"tcp.port=={client},data"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert set(done.stdout.split()) == {"eth:ethertype:ip:tcp:data"}


def test_a_dialect_that_nobody_knows_is_left_to_wireshark(tmp_path: Path) -> None:
    lines = (
        '{"kind": "case", "dialect": "none"}',
        '{"kind": "open", "conn": 1, "local": ["127.0.0.1", 40001], "remote": ["127.0.0.1", 9]}',
        '{"kind": "octets", "conn": 1, "t_ns": 0, "dir": "out", "hex": "414d5150"}',
    )
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert set(streams(write_capture(tmp_path / "x.jsonl"))) == {(40_001, AMQP_PORT), (AMQP_PORT, 40_001)}
