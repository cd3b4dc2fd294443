"""Where a planted defect strikes: frames of a name, with a value in a field, or with octets anywhere.

Knows: how frames are cut and named in each family of dialects. Must not know: defects, brokers, oracles.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from amqpspec.fuzz.grammar import tables
from amqpspec.spec.amqp_1_0 import LAYOUT
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

_HEAD = struct.Struct(">IBBH")
_HEADER_OCTETS = 8
_SHOWN_CHARS = 200


class Said:
    """One frame of a client: its name (a method, a performative, ``header`` …), channel, and fields as text."""

    def __init__(
        self, name: str, channel: int, payload: bytes, read: Callable[[], Mapping[str, Any]]
    ) -> None:
        self.name, self.channel, self.payload = name, channel, payload
        self._read = read

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """What stands in its fields; nothing where they cannot be read."""
        try:
            return {name: repr(value)[:_SHOWN_CHARS] for name, value in self._read().items()}
        except WireError:
            return {}


@dataclass(frozen=True, slots=True)
class Spot:
    """A condition on one frame; what is left empty holds for all. ``value`` is a field's value as ``repr`` shows it."""

    names: frozenset[str] = frozenset()
    field: str = ""
    value: str = ""
    octets: bytes = b""

    def is_at(self, said: Said) -> bool:
        """Whether a frame is meant."""
        if self.names and said.name not in self.names:
            return False
        if self.octets and self.octets not in said.payload:
            return False
        return not self.field or said.fields.get(self.field) == self.value

    def is_in(self, dialect: str, octets: bytes) -> bool:
        """Whether octets of a client hold a frame that is meant."""
        return any(self.is_at(said) for said in frames_in(dialect, octets))

    @property
    def words(self) -> str:
        """The condition on one line."""
        parts = ["/".join(sorted(self.names)) or "any frame"]
        if self.field:
            parts.append(f"{self.field}={self.value}")
        if self.octets:
            parts.append(f"with {self.octets.hex(' ')}")
        return " ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "names": sorted(self.names), "field": self.field, "value": self.value, "octets": self.octets.hex(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Spot:
        """From JSON."""
        return cls(frozenset(row["names"]), row["field"], row["value"], bytes.fromhex(row["octets"]))


def frames_in(dialect: str, octets: bytes) -> Iterator[Said]:
    """The whole frames in a client's octets, up to the first that cannot be cut; protocol headers are passed over."""
    found = tables(dialect)
    return _methods_in(dialect, octets) if isinstance(found, MethodDialect) else _typed_in(octets)


# --- classes and methods


def method_frame(dialect: str, kind: str, channel: int, payload: bytes) -> Said:
    """One frame as the broker has cut it."""
    codec, by_ids = _codec(dialect)
    name = by_ids.get((payload[:2], payload[2:4])) if kind == "method" else kind
    return Said(
        name or "", channel, payload, lambda: codec.decode_method(payload).args if kind == "method" else {}
    )


@cache
def _codec(dialect: str) -> tuple[Codec, dict[tuple[bytes, bytes], str]]:
    codec = codec_for(widest(dialect))
    ids = codec.dialect.methods_by_id.items()
    return codec, {(c.to_bytes(2, "big"), m.to_bytes(2, "big")): method.name for (c, m), method in ids}


def _methods_in(dialect: str, octets: bytes) -> Iterator[Said]:
    layout = _codec(dialect)[0].dialect.layout
    kinds = {code: name for name, code in layout.types.items()}
    reader = FrameReader(layout)
    reader.feed(octets)
    try:
        while (item := reader.next()) is not None:
            if isinstance(item, Frame):
                yield method_frame(dialect, kinds.get(item.type, ""), item.channel, item.payload)
    except WireError:
        return


# --- described types


def typed_frame(channel: int, body: bytes) -> Said:
    """One frame as the broker has cut it."""
    composed = _composed(body)
    name = composed.name if composed is not None else ""
    return Said(name, channel, body, lambda: _given(composed) if composed is not None else {})


def _composed(body: bytes) -> Composed | None:
    try:
        value = decode(body)[0] if body else None
    except WireError:
        return None
    return value if isinstance(value, Composed) else None


def _given(composed: Composed) -> dict[str, Any]:
    return {field.key: composed[field.key] for field in composed.row.fields if field.key in composed.given}


def _typed_in(octets: bytes) -> Iterator[Said]:
    at = _HEADER_OCTETS if octets.startswith(b"AMQP") else 0
    while len(octets) - at >= LAYOUT.header_octets:
        size, doff, _, channel = _HEAD.unpack_from(octets, at)
        start = doff * LAYOUT.doff_word_octets
        if not LAYOUT.header_octets <= start <= size <= len(octets) - at:
            return
        yield typed_frame(channel, octets[at + start : at + size])
        at += size
