"""Frames of a client, and conditions on one: where a planted defect strikes.

Knows: names, fields and octets of frames. Must not know: any dialect, defects, brokers, oracles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from amqpspec.wire.errors import WireError

_SHOWN_CHARS = 200


class ClientFrame:
    """One frame of a client: its name (a method, a performative, ``header`` …), channel, and fields as text."""

    def __init__(
        self, name: str, channel: int, payload: bytes, read: Callable[[], Mapping[str, Any]]
    ) -> None:
        self.name, self.channel, self.payload = name, channel, payload
        self._read = read

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The values of its fields; nothing if they cannot be read."""
        try:
            return {name: repr(value)[:_SHOWN_CHARS] for name, value in self._read().items()}
        except WireError:
            return {}


@dataclass(frozen=True, slots=True)
class FrameCondition:
    """A condition on one frame; what is left empty holds for all. ``value`` is a field's value as ``repr`` shows it."""

    names: frozenset[str] = frozenset()
    field: str = ""
    value: str = ""
    octets: bytes = b""

    def is_at(self, frame: ClientFrame) -> bool:
        """Whether a frame is meant."""
        if self.names and frame.name not in self.names:
            return False
        if self.octets and self.octets not in frame.payload:
            return False
        return not self.field or frame.fields.get(self.field) == self.value

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
    def from_json(cls, row: Mapping[str, Any]) -> FrameCondition:
        """From JSON."""
        return cls(frozenset(row["names"]), row["field"], row["value"], bytes.fromhex(row["octets"]))
