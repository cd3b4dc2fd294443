"""Frames, segments and assemblies of AMQP 0-10 bent: headers, flags, cuts, limits.

Knows: the frame header and its flags, what tuning settles. Must not know: values, sessions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from amqpspec.fuzz.amqp_0_10.grammar import MAKER
from amqpspec.fuzz.amqp_0_10.kit import may, say, transfer
from amqpspec.fuzz.amqp_0_10.samples import CHANNEL
from amqpspec.fuzz.families.base import Bend, Location, bend, edges, every_octet, locations_at, numbers_of
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, octets_of
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.frames import cut, encode_frame
from amqpspec.wire.amqp_0_10.instructions import BODY, COMMAND, CONTROL, HEADER

_HEADERS = ("transport/frame/version", "transport/frame/reserved-bits", "transport/tracks/reserved")
_FLAGS = ("transport/assemblies/flags", "transport/frame/segment-type", "encoding/segments/unexpected")
_LIMITS = ("connection/tune-ok/channel-max/upper-limit", "connection/tune-ok/max-frame-size/upper-limit",
           "connection/tune-ok/max-frame-size/minimum/chosen")  # fmt: skip
_SIZES = (4095, 4096, 4097, 8192, 32_767, 32_768, 59_999, 60_000, 60_001, 65_534, 65_535)
_CHANNELS = (2, 7, 8, 9, 254, 255, 256, 257, 1023, 1024, 32_767, 32_768, 65_534, 65_535)
_MOST_OCTETS = 65_535


# --- C4


def _octet(place: Place) -> str:
    wanted = {"frame": "frame.flags", "track": "frame.track"}
    return wanted.get(place.node.kind, "") if place.node.name in ("flags", "track") else ""


def _reserved(place: Place) -> str:
    return f"frame.{place.node.name}" if place.node.kind == "reserved" else ""


def headers(dialect_id: str, state: State) -> Iterator[Location]:
    """Every octet of flags and of the track; what is reserved."""
    yield from locations_at(dialect_id, state, _octet, every_octet, *_HEADERS, rest=numbers_of(edges))
    yield from locations_at(dialect_id, state, _reserved, numbers_of(edges), *_HEADERS)


# --- C5


def _limit(place: Place) -> str:
    wanted = ("channel-max", "max-frame-size", "heartbeat")
    return f"tune-ok.{place.node.name}" if place.node.name in wanted else ""


def _edges(width_octets: int, value: int) -> list[int]:
    near = {0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 59_999, 60_000, 60_001, 65_534, 65_535}
    return sorted(number for number in near if number != value)


def limits(dialect_id: str, state: State) -> Iterator[Location]:
    """What was agreed on, and is not kept."""
    if state.name == "tune":
        yield from locations_at(dialect_id, state, _limit, numbers_of(_edges), *_LIMITS)
        yield Location("tune-ok.heartbeat", _heartbeats, _LIMITS)
    if may(state, "session.attach"):
        yield Location("channel.too-high", _channels, ("connection/tune-ok/channel-max/available-channels",))
    if may(state, "message.transfer"):
        yield Location(
            "frame.too-large", _large, ("connection/tune-ok/max-frame-size/max-frame-size/refused",)
        )
        yield Location("segment.long", _long_segments, ("transport/assemblies/flags",))


def _heartbeats() -> Iterator[Bend]:
    for heartbeat in (0, 1, 119, 120, 121, 32_767, 65_535):
        yield Bend(f"heartbeat {heartbeat}", (say("connection.tune-ok", heartbeat=heartbeat),))


def _channels() -> Iterator[Bend]:
    for channel in _CHANNELS:
        attach = say("session.attach", channel, name=f"amqpspec-fuzz-{channel}".encode())
        yield Bend(f"a session on channel {channel}", (attach,))


def _large() -> Iterator[Bend]:
    for size in _SIZES:
        text = b"x" * (size - 12)
        yield Bend(
            f"body frame of {size} octets", (transfer(None) + encode_frame(text, type=BODY, channel=CHANNEL),)
        )
        yield Bend(f"control of {size} octets", (encode_frame(text, type=CONTROL, channel=CHANNEL),))
        command = say("message.stop", destination="d")[12:] + b"x" * (size - 40)
        yield Bend(f"command of about {size} octets", (encode_frame(command, type=COMMAND, channel=CHANNEL),))


def _long_segments() -> Iterator[Bend]:
    """Segments in very many frames, most of them empty; bodies that do not end."""
    begin = encode_frame(b"", type=COMMAND, flags=0x0A, channel=CHANNEL)
    for count in (1, 16, 256, 4096):
        more = encode_frame(b"", type=COMMAND, flags=0x08, channel=CHANNEL)
        yield Bend(f"a command in {count} empty frames", (begin + more * count,))
        part = encode_frame(b"x" * 64, type=COMMAND, flags=0x08, channel=CHANNEL)
        yield Bend(f"a command in {count} frames of 64 octets", (begin + part * count,))
        body = encode_frame(b"x" * 64, type=BODY, flags=0x04, channel=CHANNEL)
        first = encode_frame(b"", type=BODY, flags=0x06, channel=CHANNEL)
        yield Bend(f"a body in {count} frames that do not end", (_begun() + first + body * count,))
    many = encode_frame(b"", type=HEADER, flags=0x03, channel=CHANNEL)
    for count in (2, 16, 17, 256):
        yield Bend(f"{count} header segments", (_begun() + many * count,))


def _begun() -> bytes:
    """The command of a transfer, with more to come."""
    tree = grammar(DIALECT.id)["content/message.transfer"].tree
    return octets_of(tree.children[0])


# --- C9


def assemblies(dialect_id: str, state: State) -> Iterator[Location]:
    """Flags, types and tracks that contradict each other; assemblies mixed, cut, and never ended."""
    if state.name == "raw":
        yield Location("version", _versions, ("transport/negotiation/unsupported",))
    if may(state, "message.transfer"):
        yield Location("segment.flags", _flags, _FLAGS)
        yield Location("segment.types", _types, _FLAGS)
        yield Location("assembly.mixed", _mixed, _FLAGS)
        yield Location("assembly.cut", _cut, _FLAGS)
    if state.name in ("content", "body"):
        yield Location("segment.next", _next, _FLAGS)


def _versions() -> Iterator[Bend]:
    """Every octet of the header on its own."""
    header = DIALECT.protocol_header
    for at, octet in product(range(4, 8), range(256)):
        if octet != header[at]:
            yield Bend(f"octet {at} is {octet}", (header[:at] + bytes((octet,)) + header[at + 1 :],))
    for words, text in TEXTS:
        yield Bend(f"a header of {words}", (text,))


def _payloads() -> dict[int, bytes]:
    properties = MAKER.header_struct("message.delivery-properties", full=False)
    tree = MAKER.transfer(properties)
    return {
        int.from_bytes(frame.children[1].octets, "big"): octets_of(frame)[12:] for frame in tree.children
    } | {CONTROL: octets_of(MAKER.alone(DIALECT.controls["session.flush"]))[12:]}


def _flags() -> Iterator[Bend]:
    """The frames of a transfer, and of one in two frames a segment, with every flag the other way round."""
    parts = _payloads()
    kinds = (COMMAND, HEADER, BODY)
    for given in product((0x00, 0x03, 0x07, 0x0B, 0x0F, 0x08, 0x02), repeat=3):
        frames = (
            encode_frame(parts[kind], type=kind, flags=flags, channel=CHANNEL)
            for kind, flags in zip(kinds, given, strict=True)
        )
        yield Bend(f"flags {' '.join(f'{flags:x}' for flags in given)}", (b"".join(frames),))


def _types() -> Iterator[Bend]:
    """Segments of any types one after the other, on either track."""
    parts = _payloads()
    for kinds in product(parts, repeat=3):
        for track in (0, 1):
            octets = cut([(kind, parts[kind]) for kind in kinds], channel=CHANNEL, track=track)
            yield Bend(f"segments of types {kinds} on track {track}", (b"".join(octets),))
    for kind in (4, 5, 127, 255):
        yield Bend(
            f"a frame of type {kind} in a transfer",
            (_begun() + encode_frame(b"x", type=kind, flags=7, channel=1),),
        )


def _mixed() -> Iterator[Bend]:
    """Frames of assemblies on two channels and two tracks between each other."""
    flush = say("session.flush", completed=True)
    frames = [octets_of(frame) for frame in grammar(DIALECT.id)["message/frames"].tree.children]
    for at in range(1, len(frames)):
        octets = b"".join(frames[:at]) + flush + b"".join(frames[at:])
        yield Bend(f"a control behind frame {at} of a transfer", (octets,))
        other = b"".join(frames[:at]) + say("execution.sync") + b"".join(frames[at:])
        yield Bend(f"a command behind frame {at} of a transfer", (other,))
        twice = b"".join(frames[:at]) * 2 + b"".join(frames[at:])
        yield Bend(f"the first {at} frames twice", (twice,))
        left_out = b"".join(frames[: at - 1] + frames[at:])
        yield Bend(f"frame {at} left out", (left_out,))
    yield Bend("frames from the last to the first", (b"".join(frames[::-1]),))


def _cut() -> Iterator[Bend]:
    """A transfer cut into frames of every size."""
    parts = _payloads()
    for size in range(13, 80):
        frames = cut(
            [(kind, parts[kind]) for kind in (COMMAND, HEADER, BODY)], channel=1, max_frame_octets=size
        )
        yield Bend(f"a transfer in frames of {size} octets", (b"".join(frames),))


def _next() -> Iterator[Bend]:
    """Any frame in the middle of an assembly."""
    parts = _payloads()
    for kind, flags in product(parts, range(16)):
        frame = encode_frame(parts[kind], type=kind, flags=flags, channel=CHANNEL)
        yield bend(f"type {kind}, flags {flags:x}", frame)
    for kind, flags in product((4, 255), (0x03, 0x07)):
        yield bend(
            f"type {kind}, flags {flags:x}", encode_frame(b"x", type=kind, flags=flags, channel=CHANNEL)
        )
