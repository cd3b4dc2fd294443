"""The planted defects: what goes wrong, at which method, and which oracle has to see it.

Knows: names of methods, oracles. Must not know: how a defect is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from fuzz.oracles.suspicion import Oracle
from harness.spec.dialects import load_methods, widest
from harness.wire.errors import WireError
from harness.wire.frames import Frame, FrameReader
from harness.wire.methods import codec_for

DIALECT = "amqp-0-9-1"

SPOTS = {
    "rare": frozenset({"tx.rollback"}),
    "common": frozenset({"exchange.declare", "exchange.delete", "queue.bind", "queue.unbind"}),
}
"""Methods at which a defect strikes; no sentinel and no canary uses any of them."""

KINDS = {
    "crash": Oracle.CRASH,
    "hang": Oracle.HANG,
    "leak": Oracle.MEMORY,
    "cpu": Oracle.CPU,
    "late": Oracle.LATE,
    "corrupt": Oracle.CANARY,
    "wrong-user": Oracle.LEAK,
    "throw": Oracle.LOG,
}
"""What goes wrong, and the oracle that has to see it."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One planted defect."""

    kind: str
    spot: str

    @property
    def name(self) -> str:
        """``crash@rare``."""
        return f"{self.kind}@{self.spot}"

    @property
    def oracle(self) -> Oracle:
        """Who has to see it."""
        return KINDS[self.kind]

    @property
    def methods(self) -> frozenset[str]:
        """Where it strikes."""
        return SPOTS[self.spot]

    def is_in(self, octets: bytes) -> bool:
        """Whether octets hold a whole frame with one of its methods."""
        return bool(self.methods & _methods_in(octets))


def defects() -> tuple[Defect, ...]:
    """Every defect at every spot."""
    return tuple(Defect(kind, spot) for kind in KINDS for spot in SPOTS)


def defect(name: str) -> Defect:
    """A defect by name; raises KeyError."""
    return {d.name: d for d in defects()}[name]


def _methods_in(octets: bytes) -> frozenset[str]:
    codec = codec_for(widest(DIALECT))
    reader = FrameReader(load_methods(DIALECT).layout)
    reader.feed(octets)
    found: set[str] = set()
    try:
        while (item := reader.next()) is not None:
            if isinstance(item, Frame) and item.type == codec.dialect.layout.types["method"]:
                found.add(codec.decode_method(item.payload).name)
    except WireError:
        pass
    return frozenset(found)
