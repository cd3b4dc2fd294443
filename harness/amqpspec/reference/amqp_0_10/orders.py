"""A complete control or command with its segments.

Knows: names of the tables. Must not know: its handler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.spec.assemblies import Control
from amqpspec.wire.amqp_0_10.instructions import HeaderEntry
from amqpspec.wire.amqp_0_10.values import Packed


@dataclass(slots=True)
class Order:
    """One control or command; ``id`` is a command's. ``header`` and ``body`` are None if there are no such segments.

    ``header_octets`` is the header segment as received.
    """

    row: Control
    args: Mapping[str, Any]
    sync: bool = False
    id: int = 0
    header: Sequence[HeaderEntry] | None = None
    header_octets: bytes = b""
    body: bytes | None = None

    @property
    def name(self) -> str:
        """``class.command``."""
        return self.row.name

    def __getitem__(self, key: str) -> Any:
        """An argument by its key; None if it is absent."""
        return self.args.get(key)

    def struct(self, name: str) -> Mapping[str, Any]:
        """The fields of a struct in the header segment; none if it is not there."""
        found = (e.fields for e in self.header or () if isinstance(e, Packed) and e.name == name)
        return next(found, {})

    def place(self, key: str) -> int | None:
        """The position of a field among the arguments."""
        return next((n for n, f in enumerate(self.row.fields) if f.key == key or f.name == key), None)
