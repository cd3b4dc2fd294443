"""Recorded conversations as a corpus: what clients said, cut where a state begins, without any login.

Knows: protocol headers, frames, which frames belong to a handshake. Must not know: captures' formats, mutation.

A handshake is never kept: the way into a state makes a new one, so that no recorded secret becomes an input. What
is behind it becomes an entry as a whole; and, channel by channel, some utterances at a time (a method with its
content), on the channel that the state has opened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

from amqpspec.fuzz.grammar import DEPLOYED, DIALECTS, tables
from amqpspec.fuzz.inputs.mutation import Origin, corpus_role
from amqpspec.fuzz.interop.captures import client_streams
from amqpspec.fuzz.states.ways import states
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.typed import TypedDialect
from amqpspec.wire.amqp_1_0.frames import RawFrame, RawReader
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.frames import Frame, FrameReader

FOLDER, INDEX = "corpus", "corpus.json"
_MAX_OCTETS = 1 << 20
_MAX_FRAMES = 24
_UTTERANCES = 4
_MAX_ENTRIES = 512
_HEADER_OCTETS = 8


class SeedError(ValueError):
    """A file holds nothing that can be taken, or a corpus is not as it was written; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One entry: octets for a state; ``source`` says where it was recorded."""

    state: str
    octets: bytes
    source: str

    @property
    def role(self) -> str:
        """The role by which ids name it."""
        return corpus_role(self.octets)

    @property
    def origin(self) -> Origin:
        """What random mutation begins with."""
        return self.role, self.state


@dataclass(frozen=True, slots=True)
class Seeds:
    """The entries that a capture gave, and how many of its streams (and entries) were left out, by reason."""

    entries: tuple[Seed, ...]
    streams: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def corpus(self) -> dict[str, bytes]:
        """Octets by role, as ``random_input`` takes them."""
        return {seed.role: seed.octets for seed in self.entries}

    @property
    def words(self) -> str:
        """One line."""
        kept = self.streams - sum(count for why, count in self.left_out.items() if why != _TOO_MANY)
        out = "".join(f"; {count} {why}" for why, count in sorted(self.left_out.items()))
        return f"{len(self.entries)} entries from {kept} of {self.streams} streams{out}"


_NOT_AMQP = "streams without a protocol header left out"
_OTHER = "streams of another dialect left out"
_EMPTY = "streams with nothing behind the handshake left out"
_TOO_MANY = "entries too many left out"


def read_seeds(path: Path, dialect_id: str) -> Seeds:
    """What clients said in a capture, for one dialect. Raises CaptureError, or SeedError where nothing is left."""
    entries: dict[Origin, Seed] = {}
    left_out: Counter[str] = Counter()
    streams = client_streams(path)
    for number, stream in enumerate(streams, start=1):
        known = dialects_of(stream.octets)
        if dialect_id not in known:
            left_out[_OTHER if known else _NOT_AMQP] += 1
            continue
        found = list(cut(dialect_id, stream.octets, f"{path.name}, stream {number}"))
        left_out[_EMPTY] += not found
        for seed in found:
            entries.setdefault(seed.origin, seed)
    left_out[_TOO_MANY] = max(0, len(entries) - _MAX_ENTRIES)
    kept = tuple(islice(entries.values(), _MAX_ENTRIES))
    seeds = Seeds(kept, len(streams), {why: count for why, count in left_out.items() if count})
    if not kept:
        raise SeedError(f"{path}: expected a conversation in {dialect_id}, actual: {seeds.words}")
    return seeds


def dialects_of(octets: bytes) -> tuple[str, ...]:
    """The dialects whose protocol header a stream begins with."""
    begin = octets[:_HEADER_OCTETS]
    return tuple(d for d in (*DIALECTS, *DEPLOYED) if begin in _headers(d))


@cache
def _headers(dialect_id: str) -> frozenset[bytes]:
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        return frozenset((dialect.protocol_header,))
    assert isinstance(dialect, TypedDialect)
    return frozenset(dialect.layout.headers.values())


# --- cutting


@dataclass(frozen=True, slots=True)
class _Piece:
    """A frame that is no handshake: its channel, what it is, whether it continues what was before."""

    channel: int
    name: str
    octets: bytes
    continues: bool = False


def cut(dialect_id: str, octets: bytes, source: str = "") -> Iterator[Seed]:
    """The entries of one client's stream."""
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        yield from _cut(dialect_id, list(_methods(dialect, octets)), _Places("ready", "channel"), source)
        return
    assert isinstance(dialect, TypedDialect)
    yield from _cut(dialect_id, list(_typed(dialect, octets)), _Places("open", "session"), source)


@dataclass(frozen=True, slots=True)
class _Places:
    """The state behind a handshake, and the state with one channel or session open."""

    ready: str
    inside: str


_OPENS = frozenset({"channel.open", "begin"})
_ENDS = frozenset({"channel.close", "channel.close-ok", "end", "close"})


def _cut(dialect_id: str, pieces: list[_Piece], places: _Places, source: str) -> Iterator[Seed]:
    if not pieces:
        return
    whole = b"".join(piece.octets for piece in pieces[:_MAX_FRAMES])
    yield Seed(places.ready, whole[:_MAX_OCTETS], f"{source}, its beginning")
    channel = min(states(dialect_id)[places.inside].channels)
    for there in dict.fromkeys(piece.channel for piece in pieces):
        inside = [p for p in pieces if p.channel == there and p.name not in _OPENS | _ENDS]
        for number, octets in enumerate(_windows(dialect_id, inside, channel), start=1):
            yield Seed(places.inside, octets[:_MAX_OCTETS], f"{source}, channel {there}, part {number}")


def _windows(dialect_id: str, pieces: Iterable[_Piece], channel: int) -> Iterator[bytes]:
    """Some utterances at a time, on another channel."""
    utterances: list[bytes] = []
    for piece in pieces:
        octets = _on_channel(dialect_id, piece.octets, channel)
        if piece.continues and utterances:
            utterances[-1] += octets
        else:
            utterances.append(octets)
    for at in range(0, len(utterances), _UTTERANCES):
        yield b"".join(utterances[at : at + _UTTERANCES])


def _on_channel(dialect_id: str, octets: bytes, channel: int) -> bytes:
    at = _channel_at(dialect_id)
    return octets[:at] + channel.to_bytes(2, "big") + octets[at + 2 :]


@cache
def _channel_at(dialect_id: str) -> int:
    dialect, at = tables(dialect_id), 0
    assert isinstance(dialect, MethodDialect | TypedDialect)
    for name, width in dialect.layout.header:
        if name == "channel":
            return at
        at += width
    raise AssertionError(f"{dialect_id}: a frame without a channel")


def _methods(dialect: MethodDialect, octets: bytes) -> Iterator[_Piece]:
    """Frames behind the protocol header, without class connection and heartbeats."""
    kinds = {code: name for name, code in dialect.layout.types.items()}
    reader = FrameReader(dialect.layout, max_payload_octets=_MAX_OCTETS)
    reader.feed(octets)
    while True:
        begin = reader.offset
        try:
            item = reader.next()
        except WireError:
            return
        if item is None:
            return
        if not isinstance(item, Frame) or not item.channel:
            continue
        ids = (int.from_bytes(item.payload[:2], "big"), int.from_bytes(item.payload[2:4], "big"))
        method = dialect.methods_by_id.get(ids) if kinds.get(item.type) == "method" else None
        if method is None or method.class_name != "connection":
            name = method.name if method is not None else ""
            continues = kinds.get(item.type) in ("header", "body")
            yield _Piece(item.channel, name, octets[begin : reader.offset], continues)


def _typed(dialect: TypedDialect, octets: bytes) -> Iterator[_Piece]:
    """Frames behind the last protocol header, without open, SASL and empty frames."""
    names = {bytes((0, 0x53, row.code)): row.name for row in dialect.performatives}
    reader = RawReader(max_frame_octets=_MAX_OCTETS)
    reader.feed(octets)
    while True:
        try:
            item = reader.next()
        except WireError:
            return
        if item is None:
            return
        if isinstance(item, RawFrame) and item.frame_type == dialect.layout.types["amqp"] and item.body:
            name = names.get(item.body[:3], "")
            if name != "open":
                yield _Piece(item.channel, name, item.octets)


# --- as files


def write_corpus(folder: Path, seeds: Seeds) -> None:
    """Write a corpus below a campaign's folder; the index comes last."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    for role, octets in seeds.corpus.items():
        (place / f"{role}.bin").write_bytes(octets)
    rows = [{"entry": s.role, "state": s.state, "source": s.source} for s in seeds.entries]
    document = {"entries": rows, "streams": seeds.streams, "left_out": dict(seeds.left_out)}
    partial = place / f".{INDEX}"
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(place / INDEX)


def read_corpus(folder: Path) -> Seeds:
    """The corpus of a campaign's folder, none where it has none. Raises SeedError where it is not as it was written."""
    place = folder / FOLDER
    if not (place / INDEX).exists():
        return Seeds(())
    try:
        document = json.loads((place / INDEX).read_text(encoding="utf-8"))
        entries = tuple(
            Seed(row["state"], (place / f"{row['entry']}.bin").read_bytes(), row["source"])
            for row in document["entries"]
        )
    except (OSError, ValueError, KeyError) as error:
        raise SeedError(f"{place}: expected a corpus, actual: {error}") from error
    for seed, row in zip(entries, document["entries"], strict=True):
        if seed.role != row["entry"]:
            raise SeedError(f"{place}: expected the octets of {row['entry']}, actual those of {seed.role}")
    return Seeds(entries, document["streams"], document["left_out"])
