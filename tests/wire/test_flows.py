"""Captures as conversations: order, repetition, gaps, ports used again, ends, files that are no captures."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Talk
from amqpspec.wire.flows import tell_capture
from amqpspec.wire.packets import CaptureError
from amqpspec.wire.segments import MAX_AHEAD

_WAY = {"sport": 40_000, "dport": 5672}
_BACK = {"sport": 5672, "dport": 40_000}


class Talks:
    """A recorder that keeps the conversations, and their ends."""

    def __init__(self) -> None:
        self.talks: list[Talk] = []
        self.told: list[str] = []

    def began(self, talk: Talk) -> None:
        self.talks.append(talk)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        self.told.append(f"{sender.value} {octets.decode('latin-1')}")

    def ended(self, talk: Talk) -> None:
        self.told.append(f"ended {talk.ended}")

    def lost(self, talk: Talk) -> None:
        self.told.append("lost")


def octets_of(talk: Talk, sender: Side) -> bytes:
    return b"".join(chunk.octets for chunk in talk.chunks if chunk.sender is sender)


def told(path: Path, packets: list[Any]) -> Talks:
    from scapy.utils import wrpcap

    wrpcap(str(path), packets)
    kept = Talks()
    tell_capture(path, kept)
    return kept


@given(data=st.data())
def test_order_and_repetition_of_segments_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    from scapy.layers.inet import IP, TCP
    from scapy.utils import wrpcap

    said = data.draw(st.binary(min_size=1, max_size=60))
    first_seq = data.draw(st.sampled_from([0, 7, 2**31 - 5, 2**32 - 20]))
    cuts = sorted({0, len(said), *data.draw(st.lists(st.integers(0, len(said)), max_size=8))})
    parts = [(a, said[a:b]) for a, b in pairwise(cuts)]
    sent = data.draw(st.permutations([*parts, *data.draw(st.lists(st.sampled_from(parts), max_size=4))]))
    lost = data.draw(st.booleans()) and len(parts) > 1
    sent = [part for part in sent if part != parts[0]] if lost else sent
    way = {"sport": 40_000, "dport": 5672}
    packets = [IP() / TCP(flags="S", seq=first_seq, **way)]
    packets += [IP() / TCP(flags="PA", seq=(first_seq + 1 + at) % 2**32, **way) / part for at, part in sent]
    path = tmp_path_factory.mktemp("flow") / "a.pcap"
    wrpcap(str(path), packets)
    kept = Talks()
    tell_capture(path, kept)
    assert octets_of(kept.talks[0], Side.CLIENT) == (b"" if lost else said)
    assert kept.talks[0].is_cut is lost


def test_a_port_that_is_used_again_is_another_connection(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, TCP
    from scapy.utils import wrpcap

    way = {"sport": 40_000, "dport": 5672}
    packets = []
    for first_seq, said in ((7, b"first"), (7_000, b"second")):
        packets += [IP() / TCP(flags="S", seq=first_seq, **way)] * 2
        packets += [IP() / TCP(flags="PA", seq=first_seq + 1, **way) / said]
    wrpcap(str(tmp_path / "a.pcap"), packets)
    kept = Talks()
    tell_capture(tmp_path / "a.pcap", kept)
    assert [octets_of(talk, Side.CLIENT) for talk in kept.talks] == [b"first", b"second"]


def test_a_connection_without_its_beginning_is_left_out_and_counted(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, TCP
    from scapy.utils import wrpcap

    wrpcap(str(tmp_path / "a.pcap"), [IP() / TCP(sport=1, dport=5672, flags="PA") / b"middle"] * 2)
    kept = Talks()
    assert len(tell_capture(tmp_path / "a.pcap", kept).begun_before) == 1 and not kept.talks


@pytest.mark.parametrize("octets", [b"", b"no capture", b"\x0a\x0d\x0d\x0a" + bytes(40)])
def test_a_file_that_is_no_capture_is_one_line(tmp_path: Path, octets: bytes) -> None:
    (tmp_path / "x.pcapng").write_bytes(octets)
    with pytest.raises(CaptureError, match=r"x\.pcapng") as told:
        tell_capture(tmp_path / "x.pcapng", Talks())
    assert "\n" not in str(told.value)


# --- both sides, and how they end


def _segment(way: dict[str, int], seq: int, octets: bytes = b"", flags: str = "PA") -> Any:
    from scapy.layers.inet import IP, TCP

    return IP() / TCP(flags=flags, seq=seq, **way) / octets


def _handshake() -> list[Any]:
    return [_segment(_WAY, 9, flags="S"), _segment(_BACK, 4_000_000_000, flags="SA")]


def test_both_sides_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    packets = [
        *_handshake(),
        _segment(_WAY, 10, b"hello"),
        _segment(_BACK, 4_000_000_001, b"you"),
        _segment(_WAY, 15, b"too"),
        _segment(_WAY, 18, flags="FA"),
        _segment(_BACK, 4_000_000_004, b"bye", "FPA"),
    ]
    kept = told(tmp_path / "a.pcap", packets)
    talk = kept.talks[0]
    assert kept.told == ["client hello", "server you", "client too", "ended FIN", "server bye", "lost"]
    assert talk.is_whole and not talk.is_left and talk.ended_ns is not None
    assert (talk.local[1], talk.remote[1]) == (5672, 40_000)


@pytest.mark.parametrize(
    ("way", "flags", "ended", "is_left"),
    [(_WAY, "R", "RST", False), (_WAY, "FA", "FIN", False), (_BACK, "FA", "", True), (_BACK, "R", "", True)],
)
def test_who_ended_it_and_how(
    tmp_path: Path, way: dict[str, int], flags: str, ended: str, is_left: bool
) -> None:
    packets = [*_handshake(), _segment(_WAY, 10, b"x"), _segment(way, 11, flags=flags)]
    talk = told(tmp_path / "a.pcap", packets).talks[0]
    assert (talk.ended, talk.is_left, talk.is_whole) == (ended, is_left, bool(ended))


def test_too_much_out_of_order_cuts_the_conversation(tmp_path: Path) -> None:
    ahead = [_segment(_WAY, 12 + 2 * n, b"x") for n in range(MAX_AHEAD + 2)]
    kept = told(tmp_path / "a.pcap", [*_handshake(), *ahead, _segment(_WAY, 10, b"ab")])
    assert kept.talks[0].is_cut and octets_of(kept.talks[0], Side.CLIENT) == b""


def test_what_is_no_tcp_is_passed_over(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, UDP

    packets = [IP() / UDP(sport=1, dport=2) / b"no", *_handshake(), _segment(_WAY, 10, b"yes")]
    assert told(tmp_path / "a.pcap", packets).told == ["client yes", "lost"]


def test_a_capture_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"none\.pcap: No such file"):
        tell_capture(tmp_path / "none.pcap", Talks())
