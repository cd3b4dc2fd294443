"""Captures return as they were written, and Wireshark's own dissector reads the methods in them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from amqpspec.wire.capture import AMQP_PORT, MAX_SEGMENT_OCTETS, Segment, read_pcapng, write_pcapng
from amqpspec.wire.methods.codec import Codec, ContentHeader
from amqpspec.wire.methods.frames import Frame, encode_frame
from tests.tools import needs_tshark
from tests.waiting import PATIENCE_S

LOCAL, REMOTE = ("127.0.0.1", 40001), ("127.0.0.1", 34567)
LOCAL6, REMOTE6 = ("::1", 40001), ("::1", 5671)
EPOCH_NS = 1_795_226_400 * 10**9


def method(codec: Codec, name: str, channel: int = 0, **args: Any) -> bytes:
    return encode_frame(codec.dialect.layout, Frame(1, channel, codec.encode_method(name, args)))


def conversation(codec: Codec) -> list[Segment]:
    """A small legal conversation."""
    layout = codec.dialect.layout
    header = codec.encode_header(ContentHeader(60, 5, {"content_type": "text/plain", "headers": {"n": 1}}))
    content = encode_frame(layout, Frame(2, 1, header)) + encode_frame(layout, Frame(3, 1, b"hello"))
    said = [
        ("out", codec.dialect.protocol_header),
        ("in", method(codec, "connection.start", version_minor=9, mechanisms="PLAIN", locales="en_US")),
        ("out", method(codec, "connection.start-ok", mechanism="PLAIN", response="****", locale="en_US")),
        ("in", method(codec, "connection.tune", channel_max=2047, frame_max=131072)),
        ("out", method(codec, "connection.tune-ok") + method(codec, "connection.open", virtual_host="/")),
        ("in", method(codec, "connection.open-ok")),
        ("out", method(codec, "queue.declare", 1, queue="orders", arguments={"x-max-length": 5})),
        ("out", method(codec, "basic.publish", 1, routing_key="orders") + content),
    ]
    return [
        Segment(number * 1_000_000, 1, "out" if way == "out" else "in", octets, LOCAL, REMOTE)
        for number, (way, octets) in enumerate(said)
    ]


def tshark(path: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-n", "-r", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return [line for line in done.stdout.splitlines() if line.strip()]


def test_what_was_written_is_read(codec: Codec, tmp_path: Path) -> None:
    segments = conversation(codec)
    write_pcapng(tmp_path / "a.pcapng", segments)
    assert read_pcapng(tmp_path / "a.pcapng") == segments


def test_times_are_counted_from_the_epoch_given(codec: Codec, tmp_path: Path) -> None:
    write_pcapng(str(tmp_path / "a.pcapng"), conversation(codec), epoch_ns=EPOCH_NS)
    times = [segment.t_ns for segment in read_pcapng(tmp_path / "a.pcapng")]
    assert [round((t_ns - EPOCH_NS) / 1e6) for t_ns in times] == list(range(8))


def test_an_empty_capture(tmp_path: Path) -> None:
    write_pcapng(tmp_path / "a.pcapng", [])
    assert read_pcapng(tmp_path / "a.pcapng") == []


def test_several_connections_keep_their_ends_and_numbers(tmp_path: Path) -> None:
    segments = [
        Segment(0, 7, "out", b"one", LOCAL, REMOTE),
        Segment(1000, 3, "in", b"two", LOCAL6, REMOTE6),
        Segment(2000, 4, "out", b"three", LOCAL, ("127.0.0.1", 999)),
        Segment(3000, 7, "in", b"four", LOCAL, REMOTE),
        Segment(4000, 4, "in", b"five", LOCAL, ("127.0.0.1", 999)),
    ]
    write_pcapng(tmp_path / "a.pcapng", segments)
    assert read_pcapng(tmp_path / "a.pcapng") == segments


def test_a_zone_is_no_part_of_an_address_on_the_wire(tmp_path: Path) -> None:
    segments = [Segment(0, 1, "out", b"one", ("fe80::1%eth0", 5), ("fe80::2%eth0", 6))]
    write_pcapng(tmp_path / "a.pcapng", segments)
    assert read_pcapng(tmp_path / "a.pcapng") == segments


def test_long_segments_are_split(tmp_path: Path) -> None:
    octets = bytes(range(256)) * 1000
    write_pcapng(tmp_path / "a.pcapng", [Segment(0, 1, "in", octets, LOCAL, REMOTE)])
    read = read_pcapng(tmp_path / "a.pcapng")
    assert [len(s.octets) for s in read] == [MAX_SEGMENT_OCTETS] * 3 + [len(octets) - 3 * MAX_SEGMENT_OCTETS]
    assert b"".join(s.octets for s in read) == octets


def test_captures_of_others(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.l2 import Ether
    from scapy.utils import PcapNgWriter

    ends = {"src": "10.0.0.1", "dst": "10.0.0.2"}
    back = {"src": "10.0.0.2", "dst": "10.0.0.1"}
    packets = [
        Ether() / IP(**ends) / UDP(sport=1, dport=2) / b"no TCP",
        Ether() / IP(**ends) / TCP(sport=9, dport=9, flags="PA") / b"before the handshake",
        Ether() / IP(**ends) / TCP(sport=5000, dport=5672, flags="S"),
        Ether() / IP(**back) / TCP(sport=5672, dport=5000, flags="SA"),
        Ether() / IP(**back) / TCP(sport=5672, dport=5000, flags="PA") / b"from the target",
    ]
    with PcapNgWriter(str(tmp_path / "a.pcapng")) as writer:
        for packet in packets:
            packet.time = 5.0
            packet[Ether].src = packet[Ether].dst = "00:00:00:00:00:00"
            writer.write(packet)
    local, remote = ("10.0.0.1", 5000), ("10.0.0.2", 5672)
    assert read_pcapng(tmp_path / "a.pcapng") == [
        Segment(5 * 10**9, 1, "in", b"from the target", local, remote)
    ]


@needs_tshark
def test_wireshark_reads_the_methods(codec: Codec, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    write_pcapng(path, conversation(codec), epoch_ns=EPOCH_NS)
    fields = ("-T", "fields", "-e", "amqp.method.class", "-e", "amqp.method.method", "-E", "separator=:")
    methods = tshark(path, "-Y", "amqp.method.class", *fields)
    assert methods == ["10:10", "10:11", "10:30", "10,10:31,40", "10:41", "50:10", "60:40"]
    assert tshark(path, "-Y", "amqp.payload", "-T", "fields", "-e", "amqp.payload") == ["68656c6c6f"]
    arguments = ("-T", "fields", "-e", "amqp.method.arguments.queue")
    assert tshark(path, "-Y", "amqp.method.method == 10 && amqp.method.class == 50", *arguments) == ["orders"]


@needs_tshark
def test_wireshark_finds_nothing_wrong_with_the_packets(codec: Codec, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    long = Segment(
        10**7, 1, "in", encode_frame(codec.dialect.layout, Frame(3, 1, bytes(200_000))), LOCAL, REMOTE
    )
    other = [
        s._replace(conn=2, local=LOCAL6, remote=REMOTE6, t_ns=s.t_ns + 2 * 10**7) for s in conversation(codec)
    ]
    write_pcapng(path, [*conversation(codec), long, *other])
    checks = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")
    wrong = "_ws.malformed || tcp.checksum_bad.expert || ip.checksum_bad.expert || tcp.analysis.lost_segment"
    assert tshark(path, *checks, "-Y", f"{wrong} || tcp.analysis.retransmission") == []
    handshakes = tshark(
        path, "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "-T", "fields", "-e", "frame.comment"
    )
    assert handshakes == [
        "connection 1 from 127.0.0.1 port 40001 to 127.0.0.1 port 34567",
        "connection 2 from ::1 port 40001 to ::1 port 5671",
    ]
    assert set(
        tshark(path, "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "-T", "fields", "-e", "tcp.dstport")
    ) == {str(AMQP_PORT)}
    assert len(tshark(path, "-Y", "amqp.method.class")) == 14
