"""How a conversation may legally go on behind an input: what its octets leave behind, and what may be said next.

Knows: frames, the steps of ways. Must not know: sockets, time, what a target answered.

An input leaves a target without an excuse only where its last octet ends a frame, nothing in it is wrong by the tables,
nothing in it carries content (behind which a broker may stop reading), and nothing in it moves the connection itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.methods.grammar import CHANNEL
from amqpspec.fuzz.states.ways import Say, Step, states
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_1_0.frames import ProtocolHeader, TypedFrame, TypedReader
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Call, Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

_MOST_FRAMES, _MOST_OCTETS = 16, 4096
"""Of longer inputs nothing is claimed: work may take its time."""
_SAFE_OCTETS = 512
_FAR = 64
_LAST = {"methods": "connection.open-ok", "types": "open"}


@dataclass(frozen=True, slots=True)
class Traces:
    """What octets leave behind.

    ``whole``: the last octet ends a frame; ``sound``: no frame is wrong by itself, and none carries content;
    ``owes``: something in them asks for an answer; ``moves``: something in them is about the connection as a whole.
    """

    whole: bool = False
    sound: bool = False
    owes: bool = True
    moves: bool = True
    names: tuple[str, ...] = ()
    channels: frozenset[int] = frozenset()


BROKEN = Traces()
"""Octets that end in the midst of a frame, or cannot be cut into frames."""


def traces(dialect_id: str, octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    dialect = tables(dialect_id)
    found = (
        _of_methods(dialect_id, dialect, octets) if isinstance(dialect, MethodDialect) else _of_types(octets)
    )
    small = len(found.names) <= _MOST_FRAMES and len(octets) <= _MOST_OCTETS
    return (
        found if small else Traces(found.whole, False, found.owes, found.moves, found.names, found.channels)
    )


@dataclass(frozen=True, slots=True)
class _Sign:
    """What one frame leaves behind."""

    name: str
    channel: int
    sound: bool
    owes: bool
    moves: bool = False


def _together(signs: list[_Sign]) -> Traces:
    return Traces(
        True,
        all(sign.sound for sign in signs),
        any(sign.owes for sign in signs),
        any(sign.moves for sign in signs),
        tuple(sign.name for sign in signs),
        frozenset(sign.channel for sign in signs),
    )


# --- classes and methods


def _of_methods(dialect_id: str, dialect: MethodDialect, octets: bytes) -> Traces:
    if octets == dialect.protocol_header:
        return _together([_Sign("protocol-header", 0, True, True, True)])
    reader = FrameReader(dialect.layout, max_payload_octets=1 << 32, header_allowed=False)
    reader.feed(octets)
    signs = []
    try:
        while (item := reader.next()) is not None:
            if isinstance(item, Frame):
                signs.append(_of_frame(dialect_id, dialect, item))
    except WireError:
        return BROKEN
    return BROKEN if reader.pending_octets or not signs else _together(signs)


def _of_frame(dialect_id: str, dialect: MethodDialect, frame: Frame) -> _Sign:
    kind = dialect.layout.type_name(frame.type)
    if kind == "heartbeat":
        return _Sign(kind, frame.channel, not frame.channel and not frame.payload, False)
    if kind != "method":
        return _Sign(kind, frame.channel, False, kind not in ("header", "body"))
    fits = len(frame.payload) + dialect.layout.overhead_octets <= dialect.layout.min_size_octets
    call = _read(_codecs(dialect_id), frame.payload) if fits else None
    if call is None:
        return _Sign("unreadable method", frame.channel, False, True, True)
    row = call.method
    moves = row.class_name == "connection"
    placed = (frame.channel == 0) is moves and row.sent_by is not Side.SERVER
    quiet = not row.replies or bool(call.args.get("no_wait") or call.args.get("nowait"))
    return _Sign(row.name, frame.channel, placed and not row.content, not quiet, moves)


@cache
def _codecs(dialect_id: str) -> tuple[Codec, ...]:
    return tuple(codec_for(d) for d in dict.fromkeys((widest(dialect_id), dialect_id)))


def _read(codecs: tuple[Codec, ...], payload: bytes) -> Call | None:
    """A method that every version of the tables can read; None for one that some cannot."""
    call = None
    try:
        for codec in reversed(codecs):
            call = codec.decode_method(payload)
    except WireError:
        return None
    return call


# --- AMQP 1.0


def _of_types(octets: bytes) -> Traces:
    reader = TypedReader(max_frame_octets=1 << 32)
    reader.feed(octets)
    signs = []
    try:
        while (item := reader.next()) is not None:
            signs.append(_of_header(item) if isinstance(item, ProtocolHeader) else _of_performative(item))
    except WireError:
        return BROKEN
    return BROKEN if reader.pending_octets or not signs else _together(signs)


def _of_header(header: ProtocolHeader) -> _Sign:
    return _Sign("header", 0, header.octets in HEADERS.values(), True, True)


def _of_performative(frame: TypedFrame) -> _Sign:
    name, performative = frame.name, frame.performative
    if performative is None:
        return _Sign(name, frame.channel, name == "empty" and frame.doff == 2, name != "empty")
    moves = name in ("open", "close") or "sasl-frame" in performative.row.provides
    plain = not frame.problems and len(frame.octets) <= _SAFE_OCTETS and frame.doff == 2
    if name == "open":
        plain = plain and performative["max_frame_size"] >= _SAFE_OCTETS
    asks = name not in ("flow", "disposition") or bool(name == "flow" and performative["echo"])
    return _Sign(name, frame.channel, plain and name != "transfer", asks, moves)


# --- what may be said next


@cache
def _ladder(dialect_id: str) -> tuple[tuple[str, Step], ...]:
    """What the handshake's steps are begun by: an answer and what may be said behind it, up to the last."""
    last = last_rung(dialect_id)
    state = next(s for s in states(dialect_id).values() if s.steps and last in s.steps[-1].wait_for)
    pairs = zip(state.steps, state.steps[1:], strict=False)
    return tuple((before.wait_for[-1], after) for before, after in pairs if before.wait_for)


@cache
def is_methods(dialect_id: str) -> bool:
    """Whether a dialect is one of classes and methods."""
    return isinstance(tables(dialect_id), MethodDialect)


def last_rung(dialect_id: str) -> str:
    """The answer behind which a connection is open."""
    return _LAST["methods" if is_methods(dialect_id) else "types"]


def rung(dialect_id: str, names: tuple[str, ...]) -> int:
    """How many answers of the handshake are among the names: those up to the furthest one."""
    ladder = [name for name, _ in _ladder(dialect_id)] + [last_rung(dialect_id)]
    return max((at + 1 for at, name in enumerate(ladder) if name in names), default=0)


def is_open(dialect_id: str, reached: int) -> bool:
    """Whether so many answers open a connection."""
    return reached > len(_ladder(dialect_id))


def handshake(dialect_id: str, reached: int) -> tuple[Step, ...]:
    """The rest of the handshake behind so many answers, of which there is one at least."""
    return tuple(step for _, step in _ladder(dialect_id)[reached - 1 :])


def opening_only(dialect_id: str) -> Step:
    """The last step of the handshake where what goes before in the same step has been said already."""
    step = _ladder(dialect_id)[-1][1]
    return Step(step.says[-1:], step.wait_for)


def fresh_channel(used: frozenset[int], limit: int) -> int | None:
    """A channel that nothing has used, the lowest one behind the first; None where there is none."""
    return next((n for n in range(1, min(limit, _FAR) + 1) if n not in used), None)


@cache
def on_fresh(dialect_id: str, channel: int) -> tuple[Step, ...]:
    """A legal exchange on a channel of its own."""
    if is_methods(dialect_id):
        qos = (("prefetch_count", 1),)
        return (
            Step((Say("CHANNEL.OPEN", "channel.open", channel),), ("channel.open-ok",)),
            Step((Say("QOS", "basic.qos", channel, qos),), ("basic.qos-ok",)),
        )
    windows = (("next_outgoing_id", 0), ("incoming_window", 8), ("outgoing_window", 8))
    return (
        Step((Say("BEGIN", "begin", channel, windows),), ("begin",)),
        Step((Say("END", "end", channel),), ("end",)),
    )


@cache
def farewell(dialect_id: str, channel: int) -> Step:
    """What is owed to a target that has closed a channel, or ended a session."""
    ours = is_methods(dialect_id)
    return Step((Say("CLOSE-OK", "channel.close-ok", channel) if ours else Say("END", "end", channel),))


def used_channels(dialect_id: str, state: str, found: Traces) -> frozenset[int]:
    """Channels that may have been used: by the way, and by the input."""
    first = CHANNEL if is_methods(dialect_id) else 0
    return states(dialect_id)[state].channels | found.channels | {0, first}


MUTE = frozenset({"closing"})
"""States in which nothing more may be said."""
_FILLED = frozenset({"content", "body", "consuming", "transfer"})
_NEUTRAL = frozenset({"heartbeat", "empty"})
_ANSWERED_ANYWAY = frozenset({"header", "sasl-header"})
"""States whose way asks for the handshake's first answer without waiting for it."""


def rest(dialect_id: str, state: str, found: Traces, answers: tuple[str, ...]) -> tuple[Step, ...] | None:
    """What of the handshake is left to say; None where nothing may legally be said, or nobody can tell."""
    if state in MUTE or "close" in found.names or "connection.close" in found.names:
        return None
    before, reached = _before(dialect_id, state), rung(dialect_id, answers)
    if is_open(dialect_id, max(before, reached)):
        return ()
    if reached > before:
        return handshake(dialect_id, reached)
    neutral = found.whole and set(found.names) <= _NEUTRAL
    if (found.names, state) == (("connection.tune-ok",), "tune"):
        return (opening_only(dialect_id),)
    if (found.names, state, answers[-1:]) == (("header",), "authenticated", ("header",)):
        return (opening_only(dialect_id),)
    if not before or not neutral:
        return None
    said = state == "open" or (state == "header" and "header" in _on_the_way(dialect_id, state))
    return (opening_only(dialect_id),) if said else handshake(dialect_id, before)


def has_no_excuse(dialect_id: str, state: str, found: Traces, answers: tuple[str, ...]) -> bool:
    """Whether a target that took the input has to go on, beyond doubt."""
    if not found.whole or not found.sound or state in _FILLED | MUTE:
        return False
    before = _before(dialect_id, state)
    if is_open(dialect_id, before):
        return not found.moves
    return len(found.names) == 1 and rung(dialect_id, answers) > before


def opens(dialect_id: str, state: str) -> bool:
    """Whether the way into a state opens the connection."""
    return is_open(dialect_id, _before(dialect_id, state))


def _before(dialect_id: str, state: str) -> int:
    """How far the handshake has come without the input."""
    return max(rung(dialect_id, _on_the_way(dialect_id, state)), int(state in _ANSWERED_ANYWAY))


@cache
def _on_the_way(dialect_id: str, state: str) -> tuple[str, ...]:
    return tuple(_names(states(dialect_id)[state].steps))


def _names(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        yield from step.wait_for
