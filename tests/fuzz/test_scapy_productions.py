"""The scapy layers over every production of the grammar: the same octets when built again, in streams, in captures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amqpspec.fuzz.grammar import Production, grammar
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.spec.dialects import widest
from amqpspec.wire.capture import Segment, write_pcapng
from amqpspec.wire.layers import layers_of

DIALECTS = fuzzed_dialects()

EACH = pytest.mark.parametrize("dialect", DIALECTS)
PORT = 5672


def layers(dialect: str) -> Any:
    return layers_of(widest(dialect))


def built(packet: Any) -> bytes:
    """A packet built from its fields, all the way down."""
    packet.clear_cache()
    return bytes(packet)


def conversation(dialect: str) -> bytes:
    """A way into the deepest state, and every production after it."""
    steps = states(dialect)["consuming"].steps
    sent = b"".join(octets_of_step(dialect, step, Values()) for step in steps)
    return sent + b"".join(octets_of(production.tree) for production in grammar(dialect).values())


CASES = [(d, p) for d in DIALECTS for p in grammar(d).values()]


@pytest.mark.parametrize(("dialect", "production"), CASES, ids=lambda v: getattr(v, "name", v))
def test_a_production_is_dissected_and_built_to_the_same_octets(dialect: str, production: Production) -> None:
    octets = octets_of(production.tree)
    stream = layers(dialect).stream(octets)
    assert built(stream) == octets
    kinds = {type(frame) for frame in stream.frames}
    assert kinds <= {layers(dialect).frame, layers(dialect).protocol_header}
    assert not any(
        type(getattr(frame, "body", None)).__name__ == "Raw"
        for frame in stream.frames[:1]
        if known(production)
    )


def known(production: Production) -> bool:
    """Whether a body has a separate layer."""
    return production.name.startswith(
        ("method/", "header/", "content/", "table/", "performative/", "sasl/", "state/")
    )


@EACH
def test_a_conversation_is_frame_by_frame(dialect: str) -> None:
    octets = conversation(dialect)
    stream = layers(dialect).stream(octets)
    assert built(stream) == octets
    assert bytes(stream.frames[0]) == octets[: len(bytes(stream.frames[0]))]
    assert type(stream.frames[0]) is layers(dialect).protocol_header
    assert len(stream.frames) > len(grammar(dialect))


@EACH
@pytest.mark.parametrize("cut", [1, 3, 7, 12])
def test_what_is_not_complete_stays_as_it_is(dialect: str, cut: int) -> None:
    octets = conversation(dialect)[: -cut or None]
    stream = layers(dialect).stream(octets)
    assert built(stream) == octets
    assert type(stream.frames[-1]).__name__ == "Raw"


@pytest.fixture
def bound(dialect: str) -> Iterator[Any]:
    layers(dialect).bind()
    yield layers(dialect)
    layers(dialect).unbind()


@EACH
def test_layers_are_found_by_port(dialect: str, bound: Any) -> None:
    from scapy.layers.inet import IP, TCP

    octets = conversation(dialect)[:2000]
    for ports in ({"dport": PORT}, {"sport": PORT}):
        packet = IP(bytes(IP(src="127.0.0.1", dst="127.0.0.1") / TCP(**ports, flags="PA") / octets))
        assert type(packet[TCP].payload) is bound.stream
        assert bytes(packet[TCP].payload) == octets


def test_unbound_layers_are_not_found() -> None:
    from scapy.layers.inet import IP, TCP

    found = layers("amqp-1-0")
    found.bind(7777)
    found.unbind(7777)
    packet = IP(bytes(IP() / TCP(dport=7777) / b"AMQP\0\1\0\0"))
    assert type(packet[TCP].payload) is not found.stream


@EACH
def test_scapy_puts_segments_of_a_capture_together(dialect: str, bound: Any, tmp_path: Path) -> None:
    from scapy.sendrecv import sniff
    from scapy.sessions import TCPSession

    octets = conversation(dialect)
    ends = ("127.0.0.1", 50_000), ("127.0.0.1", PORT)
    pieces = [octets[at : at + 333] for at in range(0, len(octets), 333)]
    path = tmp_path / "c.pcapng"
    write_pcapng(path, [Segment(n, 1, "out", piece, *ends) for n, piece in enumerate(pieces)])
    found = [p[bound.stream] for p in sniff(offline=str(path), session=TCPSession) if bound.stream in p]
    assert b"".join(bytes(stream) for stream in found) == octets


@pytest.mark.parametrize("words", [b"\0\0", b"\0\1\0\0", b"\0\1\0\1\x80\0"])
def test_flag_words_behind_the_first_are_kept(words: bytes) -> None:
    row = layers("amqp-0-9-1").headers["basic"]
    octets = bytes(row(flags=0x8001, content_type=b"t", more_flags=words))
    assert octets == b"\0\x3c\0\0" + bytes(8) + b"\x80\x01" + words + b"\1t"
    packet = row(octets)
    assert built(packet) == octets and (packet.more_flags, packet.content_type) == (words, b"t")
    assert b"more" not in bytes(row(flags=0)) and len(bytes(row(flags=0))) == 14


def test_a_script_makes_octets_of_layers() -> None:
    found = layers("amqp-0-9-1")
    declare = found.methods["queue.declare"](queue=b"orders", durable=1)
    stream = found.stream(frames=[found.protocol_header(), found.frame(channel=1, body=declare)])
    octets = bytes(stream)
    assert octets.startswith(b"AMQP\0\0\x09\x01\x01\0\1")
    assert bytes(found.stream(octets).frames[1].body.queue) == b"orders"
