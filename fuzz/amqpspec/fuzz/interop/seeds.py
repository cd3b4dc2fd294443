"""Recorded conversations as a corpus: what clients said, cut where a state begins, without any login.

Knows: what of a stream is kept, and for which states. Must not know: frames, captures' formats, mutation.

A handshake is never kept: the way into a state makes a new one, so that no recorded secret becomes an input. What
is after it becomes an entry as a whole; and, channel by channel, some utterances at a time (a method with its
content), on the channel that the state has opened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from amqpspec.fuzz.inputs.corpus import FOLDER, corpus_role, write_entry
from amqpspec.fuzz.inputs.mutation import Origin
from amqpspec.fuzz.interop.captures import client_streams
from amqpspec.fuzz.interop.part import InteropPart, Piece, interop_part
from amqpspec.fuzz.parts import deployed_dialects, fuzzed_dialects
from amqpspec.fuzz.states.ways import states
from amqpspec.record.reading import parse_json

INDEX = "corpus.json"
_MAX_OCTETS = 1 << 20
_MAX_FRAMES = 24
_UTTERANCES = 4
_MAX_ENTRIES = 512


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
_EMPTY = "streams without octets after the handshake left out"
_TOO_MANY = "entries too many left out"


def read_seeds(path: Path, dialect_id: str) -> Seeds:
    """What clients said in a capture, for one dialect. Raises CaptureError, or SeedError if nothing is left."""
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
    known = (*fuzzed_dialects(), *deployed_dialects())
    return tuple(d for d in known if octets.startswith(tuple(interop_part(d).headers())))


# --- cutting


def cut(dialect_id: str, octets: bytes, source: str = "") -> Iterator[Seed]:
    """The entries of one client's stream."""
    part = interop_part(dialect_id)
    pieces = list(part.pieces(octets))
    if part.cut_states is None or not pieces:
        return
    ready, within = part.cut_states
    whole = b"".join(piece.octets for piece in pieces[:_MAX_FRAMES])
    yield Seed(ready, whole[:_MAX_OCTETS], f"{source}, its beginning")
    channel = min(states(dialect_id)[within].channels)
    for there in dict.fromkeys(piece.channel for piece in pieces):
        inside = [piece for piece in pieces if piece.channel == there and piece.inside]
        for number, octets in enumerate(_windows(part, inside, channel), start=1):
            yield Seed(within, octets[:_MAX_OCTETS], f"{source}, channel {there}, part {number}")


def _windows(part: InteropPart, pieces: Iterable[Piece], channel: int) -> Iterator[bytes]:
    """Some utterances at a time, on another channel."""
    utterances: list[bytes] = []
    for piece in pieces:
        octets = part.on_channel(piece.octets, channel)
        if piece.continues and utterances:
            utterances[-1] += octets
        else:
            utterances.append(octets)
    for at in range(0, len(utterances), _UTTERANCES):
        yield b"".join(utterances[at : at + _UTTERANCES])


# --- as files


def write_corpus(folder: Path, seeds: Seeds) -> None:
    """Write a corpus below a campaign's folder; the index comes last."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    for role, octets in seeds.corpus.items():
        write_entry(folder, role, octets)
    rows = [{"entry": s.role, "state": s.state, "source": s.source} for s in seeds.entries]
    document = {"entries": rows, "streams": seeds.streams, "left_out": dict(seeds.left_out)}
    partial = place / f".{INDEX}"
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(place / INDEX)


def read_corpus(folder: Path) -> Seeds:
    """The corpus of a campaign's folder, none if it has none. Raises SeedError if it is not as it was written."""
    place = folder / FOLDER
    if not (place / INDEX).exists():
        return Seeds(())
    try:
        document = parse_json((place / INDEX).read_text(encoding="utf-8"))
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
