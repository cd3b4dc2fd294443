"""Covered code as a guide: JaCoCo's server, counters in a file, and peers that are neither."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.coverage.counters import FileCounters
from amqpspec.fuzz.coverage.coverage import FAILURES, CoverageError, CoverageWatch
from amqpspec.fuzz.coverage.jacoco import DUMP_WITHOUT_RESET, GREETING, JacocoServer
from amqpspec.fuzz.coverage.named import channel_named
from amqpspec.net.stream import Endpoint

SESSION = b"\x10" + b"\0\4host" + bytes(16)
OK = b"\x20"


def of_class(name: str, bits: int, probes: int) -> bytes:
    head = b"\x11" + struct.pack(">Q", 7) + struct.pack(">H", len(name)) + name.encode()
    count = bytes([probes]) if probes < 128 else bytes([probes & 127 | 128, probes >> 7])
    return head + count + bits.to_bytes(-(-probes // 8), "little")


@contextmanager
def agent(answer: Callable[[int], bytes], heard: list[bytes] | None = None) -> Iterator[int]:
    """Gives the port of an agent that answers each connection, by its number, and then ends it."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        number = 0
        with suppress(OSError):
            while True:
                stream, _ = listening.accept()
                with stream, suppress(OSError):
                    said = stream.recv(len(GREETING + DUMP_WITHOUT_RESET), socket.MSG_WAITALL)
                    if heard is not None:
                        heard.append(said)
                    stream.sendall(answer(number))
                number += 1

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def snapshot(port: int, within_s: float = 10.0) -> Mapping[str, int]:
    return JacocoServer(Endpoint("127.0.0.1", port), within_s).snapshot()


def test_a_dump_is_classes_with_their_probes() -> None:
    heard: list[bytes] = []
    dump = GREETING + SESSION + of_class("a/B", 0b101, 3) + of_class("a/C", 1 << 199, 200) + OK
    with agent(lambda number: dump, heard) as port:
        seen = snapshot(port)
    assert seen == {"a/B@0000000000000007": 0b101, "a/C@0000000000000007": 1 << 199}
    assert heard == [bytes.fromhex("01c0c01007" + "400100")]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "expected the header 01c0c01007"),
        (GREETING + b"\x33", "expected a block of class, session or acknowledgement, actual: 0x33"),
        (GREETING + of_class("a/B", 1, 3)[:-1], "actual: the end of the stream"),
        (GREETING + b"\x11" + bytes(8) + b"\0\1A" + b"\xff\xff\xff\x7f", "probes in 'A'"),
        (b"", "actual: the end of the stream"),
    ],
)
def test_what_is_no_dump_is_one_line(answer: bytes, text: str) -> None:
    with agent(lambda number: answer) as port, pytest.raises(CoverageError) as told:
        snapshot(port)
    assert text in str(told.value) and "\n" not in str(told.value)


def test_an_agent_that_never_ends_its_dump_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amqpspec.fuzz.coverage.jacoco._MOST_OCTETS", 1 << 16)
    endless = GREETING + of_class("a/B", 1, 3) * 100_000
    with agent(lambda number: endless) as port, pytest.raises(CoverageError, match="at most 65536 octets"):
        snapshot(port)


def test_a_silent_agent_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(CoverageError, match="in time"):
        snapshot(silent.getsockname()[1], 0.05)


def test_only_what_never_ran_is_new_and_a_restart_brings_nothing_back() -> None:
    said = [0b001, 0b011, 0b000, 0b100]
    with agent(lambda number: GREETING + of_class("a/B", said[number], 3) + OK) as port:
        watch = CoverageWatch(JacocoServer(Endpoint("127.0.0.1", port)))
        watch.begin()
        assert [watch.news() for _ in said[1:]] == [1, 0, 1] and watch.probes == 3


def test_a_channel_that_fails_repeatedly_is_noted_and_no_longer_asked(tmp_path: Path) -> None:
    watch = CoverageWatch(FileCounters(tmp_path / "none"))
    assert [watch.news() for _ in range(FAILURES)] == [0] * FAILURES and "no longer asked" in watch.note
    (tmp_path / "none").write_bytes(b"\1")
    assert watch.news() == 0


def test_counters_that_are_not_zero_have_run(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_bytes(bytes([0, 1, 255]) + bytes(4093) + b"\x80")
    channel = channel_named(f"file:{path}")
    assert channel.snapshot() == {"0": 0b110, "4096": 0b1}


@pytest.mark.parametrize("text", ["", "jacoco:host:port", "jacoco:0", "file:", "gcov:x", "jacoco:1:99999"])
def test_names_of_channels_are_checked(text: str) -> None:
    with pytest.raises(CoverageError, match="--coverage: expected"):
        channel_named(text)


def run(tmp_path: Path, *args: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        cli,
        ["fuzz", "reference", "-o", str(tmp_path / "c"), "--cells", "C05/none/*", "--budget", "1s", *args],
    )
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        ("nonsense", "expected jacoco"),
        ("file:/nowhere/at/all", "expected a file"),
        ("jacoco:192.0.2.1:6300", "loopback"),
    ],
)
def test_a_wrong_channel_is_one_line(tmp_path: Path, coverage: str, text: str) -> None:
    code, said = run(tmp_path, "--coverage", coverage)
    assert code == 2 and text in said and said.count("\n") == 1


def test_a_campaign_counts_what_is_covered_and_keeps_inputs_for_it(tmp_path: Path) -> None:
    with agent(lambda number: GREETING + of_class("a/B", (1 << number) - 1, 100) + OK) as port:
        code, said = run(tmp_path, "--coverage", f"jacoco:127.0.0.1:{port}", "--json")
    assert code == 0 and '"covered_probes"' in said, said
