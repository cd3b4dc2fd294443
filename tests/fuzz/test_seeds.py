"""Captures as corpus: streams in order, no handshake, no login, and campaigns that bend what was recorded."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import read_progress
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client
from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.catalogue import resolve
from amqpspec.fuzz.inputs.corpus import corpus_role, tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import IdError, InputId
from amqpspec.fuzz.inputs.mutation import random_id, random_input
from amqpspec.fuzz.interop.captures import Half, client_streams
from amqpspec.fuzz.interop.seeds import (
    Seed,
    SeedError,
    Seeds,
    cut,
    dialects_of,
    read_corpus,
    read_seeds,
    write_corpus,
)
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.trees.tree import octets_of, walk
from amqpspec.fuzz.triage.findings import item_of
from amqpspec.record.capture import write_capture
from amqpspec.reference.server import ReferenceBroker
from amqpspec.wire.capture import Segment, write_pcapng
from amqpspec.wire.packets import CaptureError
from tests.reference.amqp_fast_0_8.witnessed import PERL_SAID
from tests.waiting import PATIENCE_S, until

DIALECTS = fuzzed_dialects()

EACH = pytest.mark.parametrize("dialect", DIALECTS)
METHODS = ("method/queue.declare", "content/basic.publish", "method/basic.get", "method/queue.purge")
TYPES = ("performative/attach", "performative/flow/bare", "performative/detach")
COMMANDS = ("command/handle.open", "command/channel.ack")
ASSEMBLIES = ("command/queue.query", "control/session.flush", "content/message.transfer")
NAMES = {"amqp-1-0": TYPES, "amqp-fast-0-8": COMMANDS, "amqp-0-10": ASSEMBLIES}
WHOLE = {"amqp-1-0": "open", "amqp-fast-0-8": "open"}
INSIDE = {"amqp-1-0": "session", "amqp-0-10": "session"}
PASSWORD = "recorded-secret"


def said(dialect: str, password: str = PASSWORD) -> list[bytes]:
    """What a client says in a short conversation, login first, on channel 1 or 0."""
    state = states(dialect)[INSIDE.get(dialect, "channel")]
    steps = [octets_of_step(dialect, step, Values(password=password)) for step in state.steps]
    names = NAMES.get(dialect, METHODS)
    return [*steps, *(octets_of(grammar(dialect)[name].tree) for name in names)]


def segments(pieces: list[bytes], conn: int = 1) -> Iterator[Segment]:
    ends = ("127.0.0.1", 40_000 + conn), ("127.0.0.1", 5672)
    for number, octets in enumerate(pieces):
        yield Segment(1_000 * number, conn, "out", octets, *ends)
        yield Segment(1_000 * number + 1, conn, "in", b"answer", *ends)


def capture(path: Path, *conversations: list[bytes]) -> Path:
    write_pcapng(path, [s for conn, pieces in enumerate(conversations, 1) for s in segments(pieces, conn)])
    return path


# --- from a capture to streams


def test_streams_of_our_own_captures(tmp_path: Path) -> None:
    first, second = said("amqp-0-9-1"), said("amqp-1-0")
    path = capture(tmp_path / "c.pcapng", first, second, [b"GET / HTTP/1.1\r\n\r\n"])
    assert [stream.octets for stream in client_streams(path)] == [
        b"".join(first),
        b"".join(second),
        b"GET / HTTP/1.1\r\n\r\n",
    ]
    assert all(stream.whole for stream in client_streams(path))


def test_a_capture_of_a_transcript(tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    lines: list[dict[str, Any]] = [
        {"kind": "open", "conn": 1, "t_ns": 0, "local": ["127.0.0.1", 50_000], "remote": ["127.0.0.1", 5999]}
    ]
    for number, octets in enumerate(said("amqp-0-9-1")):
        lines.append({"kind": "octets", "conn": 1, "t_ns": number, "dir": "out", "hex": octets.hex()})
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seeds = read_seeds(write_capture(transcript), "amqp-0-9-1")
    assert seeds.streams == 1 and {seed.state for seed in seeds.entries} == {"ready", "channel"}


@given(st.data())
def test_segments_in_any_order_and_sent_again_give_the_same_octets(data: st.DataObject) -> None:
    octets = data.draw(st.binary(min_size=1, max_size=200))
    first_seq = data.draw(st.sampled_from([0, 1, 2**32 - 50, 2**31 - 3]))
    cuts = sorted({0, len(octets), *data.draw(st.lists(st.integers(0, len(octets)), max_size=8))})
    pieces = [(at, octets[at:end]) for at, end in pairwise(cuts)]
    overlapping = data.draw(st.lists(st.integers(0, len(octets) - 1), max_size=4))
    pieces += [(at, octets[at : at + 30]) for at in overlapping]
    half = Half()
    half.begin((first_seq - 1) % 2**32)
    for at, piece in data.draw(st.permutations(pieces)):
        half.feed((first_seq + at) % 2**32, piece)
    assert bytes(half.octets) == octets and not half.gap


def test_a_stream_ends_at_a_gap() -> None:
    half = Half()
    half.begin(99)
    half.feed(100, b"begin")
    half.feed(110, b"behind")
    assert bytes(half.octets) == b"begin" and half.gap
    half.feed(100, b"begin and", missing_octets=3)
    assert bytes(half.octets) == b"begin and" and half.gap


def test_what_came_first_counts() -> None:
    half = Half()
    half.begin(0)
    half.feed(1, b"first")
    half.feed(1, b"other and more")
    assert bytes(half.octets) == b"first and more"


def test_classic_captures_lost_handshakes_and_port_reuse(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, TCP
    from scapy.layers.l2 import Ether
    from scapy.utils import wrpcap

    def packet(sport: int, seq: int, flags: str, octets: bytes = b"", back: bool = False) -> Any:
        ends = {"sport": 5672, "dport": sport} if back else {"sport": sport, "dport": 5672}
        pad = b"\0" * 6 if not octets else b""
        return (
            Ether() / IP(src="127.0.0.1", dst="127.0.0.1") / TCP(seq=seq, flags=flags, **ends) / octets / pad
        )

    def short(octets: bytes) -> Any:
        whole = bytes(
            Ether()
            / IP(src="127.0.0.1", dst="127.0.0.1")
            / TCP(sport=7, dport=5672, seq=1, flags="PA")
            / octets
        )
        return Ether(whole[:-4])

    path = tmp_path / "classic.pcap"
    wrpcap(
        str(path),
        [
            packet(1, 50, "PA", b"AMQP no handshake"), packet(1, 9, "PA", b"answer", back=True),
            packet(2, 10, "S"), packet(2, 11, "PA", b"one"), packet(2, 11, "PA", b"one"), packet(2, 14, "PA", b" two"),
            packet(2, 900, "S"), packet(2, 901, "PA", b"again"),
            short(b"cut off here"),
        ],
    )  # fmt: skip
    found = client_streams(path)
    assert [stream.octets for stream in found] == [b"AMQP no handshake", b"one two", b"again", b"cut off "]
    assert [stream.whole for stream in found] == [True, True, True, False]


def test_what_is_no_capture_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.pcap"
    path.write_bytes(b"nonsense")
    with pytest.raises(CaptureError, match="expected a capture"):
        client_streams(path)
    done = CliRunner().invoke(cli, ["fuzz", "reference", "--seeds", str(path), "-o", str(tmp_path / "c")])
    assert done.exit_code == 2 and done.output.count("\n") == 1 and "expected a capture" in done.output


# --- from streams to entries


@EACH
def test_headers_tell_dialects(dialect: str) -> None:
    assert dialect in dialects_of(b"".join(said(dialect)))
    assert dialects_of(b"GET / HTTP/1.1") == () == dialects_of(b"AMQP\1\1\x63\x63")


@EACH
def test_entries_hold_no_handshake_and_no_login(dialect: str) -> None:
    pieces = said(dialect)
    entries = list(cut(dialect, b"".join(pieces)))
    assert [seed.state for seed in entries] == [WHOLE.get(dialect, "ready"), INSIDE.get(dialect, "channel")]
    names = NAMES.get(dialect, METHODS)
    behind = b"".join(octets_of(grammar(dialect)[name].tree) for name in names)
    assert entries[1].octets == behind
    assert entries[0].octets.endswith(behind) and len(entries[0].octets) > len(behind)
    assert PASSWORD.encode() in b"".join(pieces)
    assert not [seed for seed in entries if PASSWORD.encode() in seed.octets]


def test_the_session_of_the_perl_client_is_a_corpus(tmp_path: Path) -> None:
    path = capture(tmp_path / "perl.pcapng", [PERL_SAID])
    seeds = read_seeds(path, "amqp-fast-0-8")
    whole, first, second = seeds.entries
    assert (whole.state, first.state, second.state) == ("open", "channel", "channel")
    assert whole.octets.startswith(bytes.fromhex("000a140001000200000000ce")) and b"hello" in whole.octets
    assert b"guest" not in whole.octets
    # HANDLE OPEN, CONSUME, SEND with its message, ACK; then the CLOSE of the handle.
    assert first.octets.endswith(bytes.fromhex("000a150001000500000001ce")) and b"hello" in first.octets
    assert second.octets == bytes.fromhex("000731000100c800ce")
    ids = [random_id("amqp-fast-0-8", 1, n, {whole.origin: 1}) for n in range(20)]
    assert len({random_input("amqp-fast-0-8", id, seeds.corpus).octets for id in ids}) > 15


def test_channels_become_the_one_that_is_open() -> None:
    pieces = said("amqp-0-9-1")
    octets = b"".join(octet[:1] + b"\0\7" + octet[3:] for octet in pieces[-2:])
    (whole, seed) = cut("amqp-0-9-1", b"".join(pieces[:3]) + octets)
    assert seed.octets == b"".join(pieces[-2:]) and "channel 7" in seed.source
    assert whole.octets == octets


def test_long_conversations_are_cut_between_utterances() -> None:
    content = octets_of(grammar("amqp-0-9-1")["content/basic.publish"].tree)
    pieces = [*said("amqp-0-9-1")[:4], *[content] * 9]
    inside = [seed for seed in cut("amqp-0-9-1", b"".join(pieces)) if seed.state == "channel"]
    assert [seed.octets for seed in inside] == [content * 4, content * 4, content]


def test_streams_that_are_left_out_are_counted(tmp_path: Path) -> None:
    lone = [states("amqp-0-9-1")["start"].steps[0].says[0].octets]
    path = capture(
        tmp_path / "c.pcapng",
        said("amqp-0-9-1"),
        said("amqp-0-9-1"),
        said("amqp-1-0"),
        [b"\x16\x03\x01 TLS"],
        lone,
    )
    seeds = read_seeds(path, "amqp-0-9-1")
    assert seeds.streams == 5 and len(seeds.entries) == 2 and sum(seeds.left_out.values()) == 3
    assert (
        "2 entries from 2 of 5 streams" in seeds.words
        and "1 streams without a protocol header" in seeds.words
    )
    with pytest.raises(SeedError, match="expected a conversation in amqp-wire-9-1"):
        read_seeds(path, "amqp-wire-9-1")


def test_a_corpus_is_read_as_it_was_written(tmp_path: Path) -> None:
    seeds = Seeds((Seed("ready", b"\1\2", "here"), Seed("channel", b"\3", "there")), 3, {"why": 1})
    write_corpus(tmp_path, seeds)
    assert read_corpus(tmp_path) == seeds
    assert read_corpus(tmp_path / "nowhere") == Seeds(())
    (tmp_path / "corpus" / f"{seeds.entries[0].role}.bin").write_bytes(b"other")
    with pytest.raises(SeedError, match="expected the octets of"):
        read_corpus(tmp_path)


# --- from entries to inputs


@EACH
def test_recorded_payloads_are_as_fine_as_productions(dialect: str) -> None:
    for production in grammar(dialect).values():
        octets = octets_of(production.tree)
        tree = tree_of(dialect, octets)
        assert octets_of(tree) == octets
        if production.name.startswith(
            ("method/", "header/", "table/", "performative/", "section/", "type/", "state/", "command/")
        ):
            wanted = sorted(
                (p.node.role, p.node.octets) for p in walk(production.tree) if not p.node.is_group
            )
            assert sorted((p.node.role, p.node.octets) for p in walk(tree) if not p.node.is_group) == wanted


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_any_octets_become_a_tree_of_the_same_octets(dialect: str, data: st.DataObject) -> None:
    octets = bytearray(b"".join(said(dialect)))
    for _ in range(data.draw(st.integers(0, 6))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    assert octets_of(tree_of(dialect, bytes(octets))) == bytes(octets)


def test_an_id_with_a_corpus_is_an_input_and_without_it_none() -> None:
    octets = b"".join(said("amqp-0-9-1")[4:])
    role = corpus_role(octets)
    id = InputId.parse(f"g:{grammar_hash('amqp-0-9-1')}/random/{role}/channel/s1/5")
    one, again = (random_input("amqp-0-9-1", id, {role: octets}) for _ in range(2))
    assert one.steps == again.steps and one.octets != octets
    with pytest.raises(IdError, match="the given corpus"):
        resolve(id)


def test_what_was_recorded_is_drawn_among_productions() -> None:
    entries = tuple(cut("amqp-0-9-1", b"".join(said("amqp-0-9-1"))))
    seeds = Seeds(entries, 1)
    weights = Energy("amqp-0-9-1", None, tuple(seed.origin for seed in entries)).weights
    ids = [random_id("amqp-0-9-1", 3, number, weights) for number in range(4000)]
    drawn = [id for id in ids if id.role in seeds.corpus]
    assert {(id.role, id.state) for id in drawn} == {seed.origin for seed in entries}
    for id in drawn:
        random_input("amqp-0-9-1", id, seeds.corpus)


def test_a_campaign_keeps_its_corpus_and_goes_on_with_it(tmp_path: Path) -> None:
    path, out = capture(tmp_path / "c.pcapng", said("amqp-0-9-1")), tmp_path / "campaign"
    common = ["--cells", "C05/none", "--budget", "0s"]
    with ReferenceBroker("amqp-0-9-1") as broker:
        url = f"amqp://guest:guest@{broker.host}:{broker.port}/"
        done = CliRunner().invoke(cli, ["fuzz", url, "--seeds", str(path), "-o", str(out), *common])
        assert done.exit_code == 0, done.output
        assert "2 entries from 1 of 1 streams" in done.output
        corpus = read_corpus(out).corpus
        assert len(corpus) == 2
        assert sorted(corpus) == sorted(read_progress(out)["plan"]["corpus"])
        again = CliRunner().invoke(cli, ["fuzz", url, "--resume", str(out), *common])
        assert again.exit_code == 0, again.output
        both = CliRunner().invoke(cli, ["fuzz", url, "--resume", str(out), "--seeds", str(path), *common])
        assert both.exit_code == 2 and "--resume" in both.output


def test_a_finding_of_a_corpus_entry_names_it() -> None:
    from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
    from amqpspec.fuzz.triage.findings import Finding
    from amqpspec.fuzz.triage.triage import Status

    octets = said("amqp-0-9-1")[4]
    id = InputId(grammar_hash("amqp-0-9-1"), "random", corpus_role(octets), "channel", 1, 5)
    item = FuzzInput(id, "amqp-0-9-1", "channel", (octets,), "")
    finding = Finding(
        "0", Status.STABLE, Suspicion(Oracle.LOG, "boom", "boom"), "amqp-0-9-1", "random", "channel", item
    )
    data = finding.to_json()
    assert data["corpus"] == f"corpus/{corpus_role(octets)}.bin"
    assert item_of(data).steps == (octets,)


# --- a capture that others wrote


@pytest.mark.skipif(shutil.which("dumpcap") is None, reason="dumpcap is not installed")
def test_a_capture_from_the_loopback_interface(tmp_path: Path) -> None:
    path = tmp_path / "live.pcapng"
    with ReferenceBroker("amqp-0-9-1") as broker:
        command = [
            "dumpcap",
            "-q",
            "-i",
            "lo",
            "-f",
            f"tcp port {broker.port}",
            "-w",
            str(path),
            "-a",
            f"duration:{PATIENCE_S:.0f}",
        ]
        writer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            if (refusal := refused(writer)) is not None:
                assert re.search("permission|no such device|doesn't exist", refusal, re.IGNORECASE), refusal
                pytest.skip(f"dumpcap may not capture here: {refusal}")
            converse(broker)
            wait_for(path, broker)
        finally:
            writer.terminate()
            writer.communicate(timeout=PATIENCE_S)
    seeds = read_seeds(path, "amqp-0-9-1")
    assert [seed.state for seed in seeds.entries[:2]] == ["ready", "channel"]
    assert seeds.entries[1].octets == b"".join(said("amqp-0-9-1")[4:])


def refused(writer: subprocess.Popen[str]) -> str | None:
    """Why the capture has ended instead of beginning; None once it says that it has begun."""
    assert writer.stderr is not None
    said = []
    for line in writer.stderr:
        if line.startswith("File:"):
            return None
        said.append(line.strip())
    return " ".join(said)


def converse(broker: ReferenceBroker) -> None:
    with Client(Address(broker.host, broker.port), "amqp-0-9-1", Values(), 10.0) as client:
        client.enter("channel")
        for octets in said("amqp-0-9-1")[4:]:
            client.send(octets)
        client.wait("queue.declare-ok")


def wait_for(path: Path, broker: ReferenceBroker) -> None:
    """Wait until the conversation is in the file; the packets of further connections push it out."""

    def is_written() -> bool:
        if path.exists() and said("amqp-0-9-1")[-1] in path.read_bytes():
            return True
        with socket.create_connection((broker.host, broker.port)) as another:
            another.sendall(b"push" * Random(0).randrange(1, 200))
            another.recv(1)
        return False

    until(is_written, "dumpcap writes the conversation to its file")
