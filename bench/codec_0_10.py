"""Our codec of AMQP 0-10 beside pamqp's of 0-9-1 and proton's of 1.0, on frames that do alike things, in one run.

Knows: all three codecs' way from octets to objects and back. Must not know: sockets, brokers.

No one else writes 0-10 in Python, so each side has frames of its own protocol: the same kinds of frames, about as many
octets (which is checked). A figure tells what a frame costs, not who reads the same octets faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pamqp import frame

from amqpspec.wire.amqp_0_10.frames import Frame, encode_assembly
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_1_0.frames import performative_frame
from bench import codec, codec_1_0
from bench.row import Row, beside

INSTRUCTIONS: Sequence[tuple[str, dict[str, Any]]] = (
    ("connection.tune", {"channel_max": 2047, "max_frame_size": 65_535, "heartbeat_min": 0, "heartbeat_max": 60}),
    ("execution.exception", {"error_code": 404, "command_id": 17, "description": "no queue 'orders' in vhost '/'"}),
    ("queue.declare", {"queue": "orders.incoming", "durable": True}),
    ("exchange.bind", {"queue": "orders.incoming", "exchange": "amq.topic", "binding_key": "orders.#"}),
    ("session.completed", {"commands": ((0, 4711),)}),
    ("message.transfer", {"destination": "amq.topic", "accept_mode": 0, "acquire_mode": 0}),
    ("message.flow", {"destination": "orders", "unit": 0, "value": 100}),
    ("message.accept", {"transfers": ((4700, 4711),)}),
)  # fmt: skip
_ALIKE = 2.0


def rows() -> Iterator[Row]:
    """The four figures."""
    ours = [encode_assembly(name, 1, **args) for name, args in INSTRUCTIONS]
    theirs = [frame.marshal(item, 1) for item in codec.METHODS]
    typed = [performative_frame(name, 1, **fields) for name, fields in codec_1_0.PERFORMATIVES]
    _alike(ours, theirs)
    _alike(ours, typed)
    yield _row("decode.beside-pamqp", our_decoder(ours), codec.their_decoder(theirs))
    yield _row("decode.beside-proton", our_decoder(ours), codec_1_0.their_decoder(typed))
    yield _row("encode.beside-pamqp", our_encoder(ours), codec.their_encoder(theirs))
    yield _row("encode.beside-proton", our_encoder(ours), codec_1_0.their_encoder(typed))


def _row(name: str, ours: Callable[[], int], theirs: Callable[[], int]) -> Row:
    return beside(f"codec-0.10.{name}", "frames/s", ours, theirs)


def _alike(ours: Sequence[bytes], theirs: Sequence[bytes]) -> None:
    """One of our frames has about as many octets as one of theirs."""
    share = (sum(map(len, ours)) / len(ours)) / (sum(map(len, theirs)) / len(theirs))
    assert 1 / _ALIKE < share < _ALIKE, f"frames of ours have {share:.1f} times the octets of theirs"


def our_decoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """All frames through our reader, their arguments taken."""
    reader = FrameReader()

    def decode_all() -> int:
        for octets in frames:
            reader.feed(octets)
            item = reader.next()
            assert type(item) is Frame and item.assembly is not None and item.assembly.instruction is not None
            item.assembly.instruction.args  # noqa: B018  (decodes them)
        return len(frames)

    return decode_all


def our_encoder(frames: Sequence[bytes]) -> Callable[[], int]:
    """Frames from arguments by name."""

    def encode_all() -> int:
        for name, args in INSTRUCTIONS:
            encode_assembly(name, 1, **args)
        return len(INSTRUCTIONS)

    assert [encode_assembly(name, 1, **args) for name, args in INSTRUCTIONS] == list(frames)
    return encode_all
