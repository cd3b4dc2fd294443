"""The planted defects: what goes wrong, in which dialect, at which frames, and which oracle has to see it.

Knows: names of frames, oracles. Must not know: how a defect is done.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from amqpspec.fuzz.grammar import DIALECTS
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.selftest.spots import Spot

_METHODS = {
    "rare": Spot(frozenset({"tx.rollback"})),
    "common": Spot(frozenset({"exchange.declare", "exchange.delete", "queue.bind", "queue.unbind"})),
}
SPOTS = {
    "amqp-0-9-1": _METHODS,
    # There, a rollback without a transaction ends the connection, behind which nothing can be seen.
    "amqp-wire-9-1": {**_METHODS, "rare": Spot(frozenset({"tx.select"}))},
    "amqp-1-0": {
        "rare": Spot(frozenset({"attach"}), "max_message_size", "1048576"),
        "common": Spot(frozenset({"detach", "disposition"})),
    },
}
"""Frames at which a defect strikes, by dialect; no way into a state, no sentinel and no canary sends any of them."""

ANSWERED = {("amqp-0-9-1", "mixed-up", "rare"): Spot(frozenset({"tx.select"}))}
"""Other spots for single defects: a rollback is refused there, and behind a refusal they could not be told."""

KINDS = {
    "crash": Oracle.CRASH,
    "hang": Oracle.HANG,
    "leak": Oracle.MEMORY,
    "cpu": Oracle.CPU,
    "late": Oracle.LATE,
    "corrupt": Oracle.CANARY,
    "wrong-user": Oracle.LEAK,
    "throw": Oracle.LOG,
    "mute": Oracle.OBEDIENCE,
    "mixed-up": Oracle.OBEDIENCE,
}
"""What goes wrong, and the oracle that has to see it."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One planted defect; ``place`` is what its spot is called."""

    kind: str
    place: str
    spot: Spot
    dialect: str

    @property
    def name(self) -> str:
        """``amqp-1-0/crash@rare``."""
        return f"{self.dialect}/{self.kind}@{self.place}"

    @property
    def oracle(self) -> Oracle:
        """Who has to see it."""
        return KINDS[self.kind]

    def is_in(self, octets: bytes) -> bool:
        """Whether octets hold a frame at which it strikes."""
        return self.spot.is_in(self.dialect, octets)

    def to_json(self) -> str:
        """As one line of JSON."""
        return json.dumps(
            {**self.spot.to_json(), "kind": self.kind, "place": self.place, "dialect": self.dialect}
        )

    @classmethod
    def from_json(cls, line: str) -> Defect:
        """From one line of JSON."""
        row = json.loads(line)
        return cls(row["kind"], row["place"], Spot.from_json(row), row["dialect"])


def defects(dialects: Iterable[str] = DIALECTS) -> tuple[Defect, ...]:
    """Every defect at every spot, dialect by dialect."""
    return tuple(
        Defect(kind, place, ANSWERED.get((dialect, kind, place), spot), dialect)
        for dialect in dialects
        for kind in KINDS
        for place, spot in SPOTS[dialect].items()
    )


def defect(name: str) -> Defect:
    """A defect by name; raises KeyError."""
    return {d.name: d for d in defects()}[name]
